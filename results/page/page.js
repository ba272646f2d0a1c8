
(() => {
  "use strict";
  // The next step of a column: up, down, and as it was.
  const next = { none: "ascending", ascending: "descending", descending: "none" };

  // key is what a cell is sorted by: its unit and number, or its text.
  const key = (cell) => {
    const text = cell.textContent.trim();
    const raw = cell.dataset.v ?? (cell.classList.contains("n") ? text : "");
    const number = raw === "" ? NaN : Number(raw);
    return { unit: cell.dataset.u ?? "", number, text };
  };

  // What has no number stands behind what has one, whichever way the column is sorted.
  const compare = (a, b, sign) => {
    const none = Number.isNaN(a.number);
    if (none !== Number.isNaN(b.number)) return none ? 1 : -1;
    if (none) return sign * a.text.localeCompare(b.text, "en", { numeric: true });
    if (a.unit !== b.unit) return a.unit < b.unit ? -1 : 1;
    return sign * (a.number - b.number);
  };

  for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    if (rows.length < 2) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.textContent.trim() === "") return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const order = next[head.getAttribute("aria-sort")];
        for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", order);
        const keyed = rows.map((row) => ({ row, key: key(row.cells[column]) }));
        if (order !== "none") keyed.sort((a, b) => compare(a.key, b.key, order === "ascending" ? 1 : -1));
        body.append(...keyed.map((k) => k.row));
      });
    });
  }

  for (const line of document.querySelectorAll(".timeline")) {
    const detail = line.querySelector(".detail");
    const rest = "Point at an event, or go to it with the Tab and arrow keys.";
    const marks = [...line.querySelectorAll(".mark")];
    if (marks.length === 0) continue;
    detail.textContent = rest;
    detail.hidden = false;
    marks.forEach((mark, k) => {
      // The page's own line tells the event; the browser's box would lie over it.
      const title = mark.querySelector("title");
      const text = title.textContent;
      mark.setAttribute("aria-label", text);
      title.remove();
      const show = () => { detail.textContent = text; };
      const hide = () => { if (document.activeElement !== mark) detail.textContent = rest; };
      mark.addEventListener("mouseenter", show);
      mark.addEventListener("mouseleave", hide);
      mark.addEventListener("focus", show);
      mark.addEventListener("blur", () => { detail.textContent = rest; });
      mark.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step === undefined) {
          if (event.key === "Escape") mark.blur();
          return;
        }
        event.preventDefault();
        marks[Math.min(Math.max(k + step, 0), marks.length - 1)].focus();
      });
    });
  }
})();

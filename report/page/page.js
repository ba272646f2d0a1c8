
const graft = (() => {
  "use strict";
  // The next sort order of a column.
  const next = { none: "ascending", ascending: "descending", descending: "none" };

  // key returns the sort key of a cell: its unit and number, or its text.
  const key = (cell) => {
    const text = cell.textContent.trim();
    const raw = cell.dataset.v ?? (cell.classList.contains("n") ? text : "");
    const number = raw === "" ? NaN : Number(raw);
    return { unit: cell.dataset.u ?? "", number, text };
  };

  // Cells without a number come after cells with a number, in both sort orders.
  const compare = (a, b, sign) => {
    const none = Number.isNaN(a.number);
    if (none !== Number.isNaN(b.number)) return none ? 1 : -1;
    if (none) return sign * a.text.localeCompare(b.text, "en", { numeric: true });
    if (a.unit !== b.unit) return a.unit < b.unit ? -1 : 1;
    return sign * (a.number - b.number);
  };

  // written returns the rows of a table in their original order.
  const written = (table) => [...table.tBodies[0].rows].sort((a, b) => a.dataset.at - b.dataset.at);

  // families moves rows inside other rows, such as the trials of a sweep, behind the row that contains them.
  const families = (rows) => {
    const inside = new Map();
    for (const row of rows) {
      if (!row.dataset.in) continue;
      if (!inside.has(row.dataset.in)) inside.set(row.dataset.in, []);
      inside.get(row.dataset.in).push(row);
    }
    if (inside.size === 0) return rows;
    return rows.filter((row) => !row.dataset.in).flatMap((row) => [row, ...(inside.get(row.dataset.key) ?? [])]);
  };

  // Functions of other scripts: enhancers get a page as the server wrote it, sorted get a table after sorting.
  const [enhancers, sorted] = [[], []];

  // sort orders the rows by the column head with a sort order. A row that is already in place is not moved, so it
  // keeps the focus.
  const sort = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    const column = heads.findIndex((head) => (head.getAttribute("aria-sort") ?? "none") !== "none");
    let rows = written(table);
    if (column >= 0) {
      const sign = heads[column].getAttribute("aria-sort") === "ascending" ? 1 : -1;
      rows = rows.map((row) => ({ row, key: key(row.cells[column]) })).sort((a, b) => compare(a.key, b.key, sign)).map((k) => k.row);
    }
    let at = table.tBodies[0].firstElementChild;
    for (const row of families(rows)) {
      if (row === at) at = at.nextElementSibling;
      else table.tBodies[0].insertBefore(row, at);
    }
    for (const then of sorted) then(table);
  };

  const press = (event) => {
    const head = event.currentTarget.closest("th");
    const order = next[head.getAttribute("aria-sort")];
    for (const other of head.parentNode.cells) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", order);
    sort(head.closest("table"));
  };

  const tables = (root) => {
    for (const table of root.querySelectorAll("table")) {
      const rows = [...table.tBodies[0].rows];
      rows.forEach((row, at) => { row.dataset.at = at; });
      if (rows.length < 2) continue;
      for (const head of table.tHead.rows[0].cells) {
        if (head.textContent.trim() === "" || "fixed" in head.dataset) continue;
        const button = document.createElement("button");
        button.type = "button";
        button.append(...head.childNodes);
        head.append(button);
        head.setAttribute("aria-sort", "none");
        button.addEventListener("click", press);
      }
    }
  };

  const rest = "Point at an event, or go to it with the Tab and arrow keys.";
  // tell writes a text into the line below the time line.
  const tell = (mark, text) => { mark.closest(".timeline").querySelector(".detail").textContent = text; };
  const show = (event) => tell(event.currentTarget, event.currentTarget.getAttribute("aria-label"));
  const hide = (event) => { if (document.activeElement !== event.currentTarget) tell(event.currentTarget, rest); };
  const walk = (event) => {
    const mark = event.currentTarget;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) {
      if (event.key === "Escape") mark.blur();
      return;
    }
    event.preventDefault();
    const marks = [...mark.closest(".timeline").querySelectorAll(".mark")];
    marks[Math.min(Math.max(marks.indexOf(mark) + step, 0), marks.length - 1)].focus();
  };

  const timelines = (root) => {
    for (const line of root.querySelectorAll(".timeline")) {
      const detail = line.querySelector(".detail");
      const marks = [...line.querySelectorAll(".mark")];
      if (marks.length === 0) continue;
      detail.textContent = rest;
      detail.hidden = false;
      for (const mark of marks) {
        // The line below shows the event; the browser's tooltip would cover it.
        const title = mark.querySelector("title");
        mark.setAttribute("aria-label", title.textContent);
        title.remove();
        mark.addEventListener("mouseenter", show);
        mark.addEventListener("mouseleave", hide);
        mark.addEventListener("focus", show);
        mark.addEventListener("blur", () => tell(mark, rest));
        mark.addEventListener("keydown", walk);
      }
    }
  };

  // enhance adds the parts of a page that need a script.
  const enhance = (root) => {
    tables(root);
    timelines(root);
    for (const more of enhancers) more(root);
  };
  enhance(document);
  return { enhance, sort, written, enhancers, sorted };
})();

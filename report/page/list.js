
(() => {
  "use strict";
  const filtered = (root) => root.querySelector(".filter");
  const tableOf = (root) => filtered(root)?.parentNode.querySelector(".filter ~ form table, .filter ~ .scroll table");
  const table = () => tableOf(document);
  // The address contains the filter and the sort order, so reloads and links keep them.
  const asked = () => new URLSearchParams(location.search);
  const ask = (changes) => {
    const all = asked();
    for (const [key, value] of Object.entries(changes)) {
      if (value) all.set(key, value);
      else all.delete(key);
    }
    const text = all.toString();
    history.replaceState(null, "", location.pathname + (text ? `?${text}` : "") + location.hash);
  };

  const heads = () => [...table().tHead.rows[0].cells];
  const controls = (root) => [...filtered(root).querySelectorAll("[data-by]")];

  // wish returns the filter as a function of a row, or null if there is no filter.
  const wish = () => {
    const all = asked();
    const words = (all.get("q") ?? "").toLowerCase().split(/\s+/).filter((word) => word);
    const equal = controls(document).filter((by) => by.nodeName === "SELECT" && all.get(by.dataset.by))
      .map((by) => [heads().findIndex((head) => head.dataset.name === by.dataset.by), all.get(by.dataset.by)]);
    if (words.length + equal.length === 0) return null;
    return (row) => {
      if (equal.some(([column, value]) => row.cells[column]?.textContent.trim() !== value)) return false;
      const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    };
  };

  // show hides the rows that do not match the filter. A row that contains matching rows stays, and shows these rows.
  const show = () => {
    const wanted = wish();
    let count = 0;
    let outer; // the last row that is not inside another row, with its state
    const rows = [...table().tBodies[0].rows];
    const found = new Map(rows.map((row) => [row, !wanted || wanted(row)]));
    const within = new Set(rows.filter((row) => row.dataset.in && found.get(row)).map((row) => row.dataset.in));
    for (const row of rows) {
      const own = found.get(row);
      if (own) count++;
      if (row.dataset.in) {
        row.hidden = !outer || outer.row.hidden || !(outer.own ? outer.open : own);
        continue;
      }
      row.hidden = !own && !within.has(row.dataset.key);
      outer = { row, own, open: row.querySelector(".fold")?.getAttribute("aria-expanded") === "true" };
    }
    const shown = document.querySelector(".shown");
    const text = wanted ? `${count} of ${rows.length} ${shown.dataset.unit}` : "";
    if (shown.textContent !== text) shown.textContent = text;
    filtered(document).querySelector(".clear").disabled = !wanted;
  };

  // adopt sets the controls to the values in the address. A value that no row has is added to the choices.
  const adopt = () => {
    for (const by of controls(document)) {
      const value = asked().get(by.dataset.by) ?? "";
      if (by.nodeName === "SELECT" && ![...by.options].some((option) => option.value === value)) by.append(new Option(value, value));
      if (by.value !== value) by.value = value;
    }
  };

  // order sorts the table by the column in the address.
  const order = () => {
    const head = heads().find((head) => head.dataset.name === asked().get("sort") && head.hasAttribute("aria-sort"));
    const way = asked().get("order") === "descending" ? "descending" : "ascending";
    if (!head || head.getAttribute("aria-sort") === way) return;
    for (const other of heads()) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", way);
    graft.sort(table());
  };

  // folds adds a button to each row that contains other rows; the button shows or hides them.
  const folds = (root) => {
    if (!filtered(root)) return;
    filtered(root).hidden = false;
    for (const row of root.querySelectorAll("tr[data-inside]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "fold";
      button.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-label", `${row.dataset.inside} inside ${row.dataset.key}`);
      button.dataset.count = row.dataset.inside; // not a text, because rows are sorted and filtered by text
      row.querySelector("th").prepend(button);
    }
  };

  document.addEventListener("click", (event) => {
    const fold = event.target.closest(".fold");
    if (fold) {
      fold.setAttribute("aria-expanded", String(fold.getAttribute("aria-expanded") !== "true"));
      show();
    }
    if (event.target.closest(".clear")) {
      ask(Object.fromEntries(controls(document).map((by) => [by.dataset.by, ""])));
      adopt();
      show();
      filtered(document).querySelector("input").focus();
    }
  });
  document.addEventListener("input", (event) => {
    if (!event.target.matches(".filter [data-by]")) return;
    ask({ [event.target.dataset.by]: event.target.value });
    show();
  });

  graft.enhancers.push(folds);
  graft.sorted.push((sorted) => {
    if (sorted !== table()) return;
    const head = heads().find((head) => (head.getAttribute("aria-sort") ?? "none") !== "none");
    ask({ sort: head?.dataset.name, order: head?.getAttribute("aria-sort") });
    adopt();
    show();
  });
  // settle applies the filter and the sort order in the address to a new or updated table.
  graft.settle = () => {
    if (!filtered(document)) return;
    adopt();
    order();
    show();
  };
  folds(document);
  graft.settle();
})();

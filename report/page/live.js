
(() => {
  "use strict";
  const bar = document.querySelector(".live");
  const [state, said] = [bar.querySelector(".state"), bar.querySelector("[role=status]")];
  const pause = bar.querySelector("button");
  const generator = (root) => root.querySelector("meta[name=generator]").content;

  // name identifies a node, so that the same node is found in the old and in the new page.
  const name = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
    if (node.dataset.key) return `${node.nodeName} ${node.dataset.key}`;
    const inner = { SECTION: "h2", FIGURE: "figcaption", DETAILS: "summary", TR: "th[scope=row]" }[node.nodeName];
    const own = inner ? node.querySelector(inner)?.textContent : node.matches(".scroll") ? node.getAttribute("aria-label") : node.getAttribute("class");
    return `${node.nodeName} ${(own ?? "").split(inner ? "\n" : " ")[0]}`;
  };

  // Attributes that readers change, and that an update keeps: sort order and open parts.
  const theirs = { TH: "aria-sort", DETAILS: "open", BUTTON: "aria-expanded" };

  const attributes = (was, now) => {
    for (const { name } of [...was.attributes]) if (!now.hasAttribute(name) && name !== theirs[was.nodeName]) was.removeAttribute(name);
    for (const { name, value } of now.attributes) if (was.getAttribute(name) !== value && !(name === theirs[was.nodeName] && was.hasAttribute(name))) was.setAttribute(name, value);
  };

  // morph changes an old node into a new node. Equal parts stay in place, with their focus, selection and
  // scroll position.
  const morph = (was, now) => {
    if (was.isEqualNode(now) || was.matches?.(".detail, .shown")) return was;
    if (was.nodeType !== Node.ELEMENT_NODE) {
      was.data = now.data;
      return was;
    }
    if (was.matches("figure > svg")) return document.adoptNode(now);
    attributes(was, now);
    if (was.nodeName === "TBODY") rows(was, now);
    else children(was, now);
    return was;
  };

  // kin returns a key: a node may be changed into another node with the same key.
  const kin = (node) => node.nodeName === "TR" ? null : `${node.nodeName} ${(node.getAttribute?.("class") ?? "").split(" ")[0]}`;

  const group = (nodes, by) => {
    const known = new Map();
    for (const node of nodes) known.set(by(node), [...(known.get(by(node)) ?? []), node]);
    return known;
  };

  // paired returns the new nodes, each replaced by an old node that was changed into it, if there is one. Nodes are
  // paired by name, and then by kind, because headings contain counts that change.
  const paired = (old, fresh) => {
    const pairs = new Map();
    for (const by of [name, kin]) {
      const taken = new Set(pairs.values());
      const known = group(old.filter((node) => !taken.has(node)), by);
      for (const node of fresh) {
        const was = pairs.has(node) || by(node) === null ? undefined : known.get(by(node))?.shift();
        if (was) pairs.set(node, was);
      }
    }
    const kept = fresh.map((node) => pairs.has(node) ? morph(pairs.get(node), node) : document.adoptNode(node));
    const all = new Set(kept);
    for (const node of old) if (!all.has(node)) node.remove();
    return kept;
  };

  const children = (was, now) => {
    const kept = paired([...was.childNodes], [...now.childNodes]);
    let at = was.firstChild;
    for (const node of kept) {
      if (node === at) at = at.nextSibling;
      else was.insertBefore(node, at);
    }
  };

  const rows = (was, now) => {
    const table = was.closest("table");
    for (const row of paired(graft.written(table), [...now.rows])) if (!row.isConnected) was.append(row);
    graft.sort(table);
  };

  // exchange updates the page where the new page differs.
  const exchange = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    if (generator(page) !== generator(document)) { // a different version of graft, whose page has a different script
      location.reload();
      return;
    }
    graft.enhance(page);
    const focused = document.activeElement;
    document.title = page.title;
    Object.assign(document.body.dataset, page.body.dataset);
    for (const [was, now] of ["header", "main"].map((part) => [document.querySelector(part), page.querySelector(part)])) morph(was, now);
    contents(document.querySelector("body > nav"), page.querySelector("body > nav"));
    graft.settle?.();
    if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
    const mark = document.querySelector(".mark:focus, .mark:hover");
    if (mark) mark.closest(".timeline").querySelector(".detail").textContent = mark.getAttribute("aria-label");
  };

  // The list of contents is missing if there is only one section.
  const contents = (was, now) => {
    if (was && now) morph(was, now);
    else if (was) was.remove();
    else if (now) document.querySelector("main").before(document.adoptNode(now));
  };

  const clock = () => new Date().toLocaleTimeString("en-GB");
  let shown = clock(); // time of the last successful response
  let heard = -Infinity; // time of the last announcement to screen readers
  let wait = 0; // milliseconds until the next request
  let failed = false;
  let paused = false;
  let asking = false;
  let timer;

  // say shows the state of the page. Screen readers announce failures immediately, and other changes at most once a
  // minute.
  const say = (text, urgent) => {
    if (state.textContent !== text) state.textContent = text;
    if (!urgent && performance.now() - heard < 60000) return;
    heard = performance.now();
    said.textContent = text;
  };

  const later = () => {
    clearTimeout(timer);
    if (!paused && !document.hidden) timer = setTimeout(ask, wait);
  };

  const well = (changed) => {
    const was = failed;
    failed = false;
    bar.classList.remove("gone");
    shown = clock();
    if (was || changed) say(`${was ? "The server is back. " : ""}Updated ${shown}.`, was);
    const { every, rarely } = document.body.dataset;
    wait = changed || was ? Number(every) : Math.min(wait * 1.25, Number(rarely));
    if (!changed) return;
    bar.classList.remove("fresh");
    void bar.offsetWidth; // restarts the animation
    bar.classList.add("fresh");
  };

  const ill = (text) => {
    if (!failed) say(`${text} This page shows the state at ${shown}. Retrying.`, true);
    failed = true;
    bar.classList.add("gone");
    wait = Math.min(wait * 2, Math.max(30000, Number(document.body.dataset.rarely)));
  };

  const ask = async () => {
    if (asking) return;
    asking = true;
    let answered;
    try {
      const answer = await fetch(location.pathname + location.search, { headers: { "If-None-Match": `"${document.body.dataset.tag}"` }, cache: "no-store", signal: AbortSignal.timeout(60000) });
      answered = [answer.status, answer.ok ? await answer.text() : ""];
    } catch {
      answered = [0, ""];
    }
    asking = false;
    take(...answered);
    later();
  };

  const take = (status, text) => {
    if (status === 200) {
      exchange(text);
      well(true);
    } else if (status === 304) well(false);
    else ill({ 0: "The server does not respond.", 404: "The page no longer exists." }[status] ?? "The server is busy.");
  };

  wait = Number(document.body.dataset.every);
  bar.hidden = false;
  state.textContent = `Live, as of ${shown}.`;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Resume" : "Pause";
    state.textContent = paused ? `Paused. This page shows the state at ${shown}.` : `Live, as of ${shown}.`;
    if (paused) clearTimeout(timer);
    else ask();
  });
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (!document.hidden && !paused) ask();
  });
  later();
})();

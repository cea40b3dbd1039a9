"use strict";
(() => {
  const collator = new Intl.Collator("en", { numeric: true });

  // Column that each heading of a header with several rows stands over; null for one over several columns.
  function headingColumns(head) {
    const taken = [];
    const found = [];
    [...head.rows].forEach((row, level) => {
      let column = 0;
      for (const cell of row.cells) {
        while ((taken[level] || [])[column]) column += 1;
        for (let down = 0; down < cell.rowSpan; down += 1) {
          taken[level + down] = taken[level + down] || [];
          for (let right = 0; right < cell.colSpan; right += 1) taken[level + down][column + right] = true;
        }
        const lowest = level + cell.rowSpan >= head.rows.length;
        found.push({ cell, column: lowest && cell.colSpan === 1 ? column : null });
        column += cell.colSpan;
      }
    });
    return found.filter((heading) => heading.column !== null);
  }

  // null: missing, last in either direction.
  function sortKey(row, column) {
    const cell = row.cells[column];
    if (!cell) return null;
    const text = ("sort" in cell.dataset ? cell.dataset.sort : cell.textContent).trim();
    if (text === "" || text === "\u2013" || text === "\u2014") return null;
    const number = Number(text.replace(/\u2212/g, "-").replace(/(\d),(?=\d{3}\b)/g, "$1"));
    return Number.isNaN(number) ? text : number;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return collator.compare(a, b);
  }

  // Rows between two group headings are sorted among themselves.
  function sortRows(body, original, column, direction) {
    const order = [];
    let group = [];
    const flush = () => {
      const keyed = group.map((row, at) => ({ row, at, key: sortKey(row, column) }));
      if (direction) {
        keyed.sort((a, b) => {
          if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.at - b.at;
          return direction * compare(a.key, b.key) || a.at - b.at;
        });
      }
      order.push(...keyed.map((entry) => entry.row));
      group = [];
    };
    for (const row of original) {
      if ([...row.cells].some((cell) => cell.colSpan > 1)) {
        flush();
        order.push(row);
      } else {
        group.push(row);
      }
    }
    flush();
    body.append(...order);
  }

  function makeSortable(table) {
    const bodies = [...table.tBodies].map((body) => ({ body, original: [...body.rows] }));
    if (!table.tHead || bodies.every(({ original }) => original.length < 2)) return;
    if (bodies.some(({ original }) => original.some((row) => [...row.cells].some((cell) => cell.rowSpan > 1)))) return;
    const headings = headingColumns(table.tHead);
    for (const { cell, column } of headings) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...cell.childNodes);
      cell.append(button);
      button.addEventListener("click", () => {
        const now = cell.getAttribute("aria-sort");
        const next = { ascending: "descending", descending: null }[now];
        const wanted = next === undefined ? "ascending" : next;
        for (const heading of headings) heading.cell.removeAttribute("aria-sort");
        if (wanted) cell.setAttribute("aria-sort", wanted);
        const direction = { ascending: 1, descending: -1 }[wanted] || 0;
        for (const { body, original } of bodies) sortRows(body, original, column, direction);
      });
    }
  }

  // What scrolls sideways must be reachable by keyboard.
  function makeReachable(table) {
    const box = table.parentElement;
    if (!box.classList.contains("table-scroll")) return;
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    if (table.caption) box.setAttribute("aria-label", `Table: ${table.caption.textContent}`);
  }

  // Rows whose text holds every word typed; a heading of a group stays while any of its rows does.
  function showMatching(table, words, status) {
    let shown = 0;
    let total = 0;
    for (const body of table.tBodies) {
      let heading = null;
      for (const row of body.rows) {
        if ([...row.cells].some((cell) => cell.colSpan > 1)) {
          heading = row;
          heading.hidden = words.length > 0;
          continue;
        }
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        total += 1;
        shown += row.hidden ? 0 : 1;
        if (heading && !row.hidden) heading.hidden = false;
      }
    }
    status.textContent = words.length ? `${shown} of ${total} rows` : "";
  }

  // Short tables are seen at a glance.
  const FILTERED_FROM = 12;

  function makeFilterable(table) {
    const rows = [...table.tBodies].reduce((sum, body) => sum + body.rows.length, 0);
    if (!table.caption || rows < FILTERED_FROM) return;
    const label = document.createElement("label");
    label.className = "filter";
    const input = document.createElement("input");
    input.type = "search";
    input.setAttribute("aria-label", `Filter rows of: ${table.caption.textContent}`);
    input.placeholder = "Filter rows";
    const status = document.createElement("span");
    status.setAttribute("role", "status");
    label.append(input, status);
    const box = table.closest(".table-scroll") || table;
    box.before(label);
    input.addEventListener("input", () => {
      showMatching(table, input.value.toLowerCase().split(/\s+/).filter(Boolean), status);
    });
  }

  for (const table of document.querySelectorAll("main table")) {
    makeSortable(table);
    makeReachable(table);
    makeFilterable(table);
  }

  // A closed explanation would be missing on paper.
  const opened = [];
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
      details.open = true;
      opened.push(details);
    }
  });
  addEventListener("afterprint", () => {
    for (const details of opened.splice(0)) details.open = false;
  });
})();

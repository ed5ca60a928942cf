"use strict";
// The table of segments: filter, sort, compare. Texts only ever become text nodes.
(async () => {
  const $ = (id) => document.getElementById(`x-${id}`);
  const HEIGHT = 34, SPARE = 8, LONGEST = 300, MOST_WORDS = 600, MOST_SHOWN = 20000;
  const status = $("status"), form = $("form"), frame = $("frame"), table = $("table"), panel = $("item");
  const make = (tag, about = {}, ...inside) => {
    const node = Object.assign(document.createElement(tag), about);
    node.append(...inside);
    return node;
  };

  const unpacked = async () => {
    const packed = atob($("data").textContent);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };

  if (typeof DecompressionStream === "undefined") {
    status.textContent = "This browser is too old to unpack the segments: Chrome 80, Firefox 113 or Safari 16.4 can.";
    return;
  }
  status.textContent = "Unpacking the segments …";
  const data = await unpacked();
  const n = data.ids.length, texted = data.texts.length > 0;
  const scores = data.scores.map((score) => {
    const values = Float64Array.from(score.values, (value) => (value === null ? NaN : value));
    const large = values.some((value) => Math.abs(value) > 1.5);
    return { ...score, values, digits: large ? 2 : 4, sign: score.falls ? -1 : 1 };
  });
  const shown = (score, i) => (Number.isNaN(score.values[i]) ? "–" : score.values[i].toFixed(score.digits));
  const text = (k) => (k < 0 ? "" : data.texts[k]);
  const first = (k) => (text(k).length > LONGEST ? `${text(k).slice(0, LONGEST)}…` : text(k));
  const long = (k) => (text(k).length > MOST_SHOWN ? `${text(k).slice(0, MOST_SHOWN)}… (${text(k).length} characters)` : text(k));
  const systemOf = (i) => data.systems[data.system[i]];
  const byItem = new Map();
  data.items.forEach((item, i) => byItem.has(item) ? byItem.get(item).push(i) : byItem.set(item, [i]));
  const failuresOf = new Map();
  for (const one of data.failures) failuresOf.has(one.of) ? failuresOf.get(one.of).push(one) : failuresOf.set(one.of, [one]);
  const failed = (i, c) => (failuresOf.get(i) || []).filter((one) => one.by.some(([score]) => score === c));
  const sibling = (i, system) => byItem.get(data.items[i]).find((k) => data.system[k] === system);

  // What is asked for once and kept.
  const kept = new Map();
  const once = (name, compute) => {
    if (!kept.has(name)) kept.set(name, compute());
    return kept.get(name);
  };
  const words = () => once("words", () => data.hyps.map((k) => (text(k).match(/\S+/g) || []).length));
  const folded = () => once("folded", () => data.texts.map((one) => one.toLowerCase()));
  // The share of segments that are worse, ties in the middle.
  const ranks = (c) => once(`ranks ${c}`, () => {
    const { values, sign } = scores[c], found = new Float64Array(n).fill(NaN);
    const order = Array.from(values.keys()).filter((i) => !Number.isNaN(values[i]));
    order.sort((a, b) => sign * (values[a] - values[b]));
    for (let start = 0, end; start < order.length; start = end) {
      for (end = start; end < order.length && values[order[end]] === values[order[start]]; end++);
      for (let k = start; k < end; k++) found[order[k]] = (start + end - 1) / 2 / Math.max(1, order.length - 1);
    }
    return found;
  });

  // Controls.
  const options = (select, names, before = "") => {
    select.append(...names.map((name, k) => make("option", { value: before + k }, name)));
  };
  $("system").append(make("option", { value: "" }, "all"));
  for (const name of ["system", "one", "two"]) options($(name), data.systems);
  for (const name of ["score", "other"]) options($(name), scores.map((score) => score.name));
  if (data.systems.length > 1) $("two").options[1].defaultSelected = true;
  if (scores.length > 1) $("other").options[1].defaultSelected = true;
  const drop = (name) => { $(name).closest("label").remove(); };
  const orders = [...$("order").options];
  if (data.systems.length < 2) orders[3].remove();
  if (scores.length < 2) orders[4].remove();
  if (!data.failures.length) orders[5].remove();
  $("bucket").append(make("option", { value: "" }, "all"), ...data.buckets.map((one, k) => {
    const group = make("optgroup", { label: one.name });
    options(group, one.labels, `${k} `);
    return group;
  }));
  if (!data.buckets.length) drop("bucket");
  const bound = (name, otherwise) => ($(name)?.value ? Number($(name).value) : otherwise); // some are dropped

  // All segments in one order, with what is sorted by; segments without it come last.
  const sorted = (order, c, one, two, other) => once([order, c, one, two, other].join(), () => {
    const { values, sign } = scores[c], key = new Float64Array(n).fill(NaN);
    if (order === "beats") {
      for (let i = 0; i < n; i++) {
        const k = data.system[i] === one ? sibling(i, two) : undefined;
        if (k !== undefined) key[i] = sign * (values[i] - values[k]);
      }
    } else if (order === "apart") {
      const [own, others] = [ranks(c), ranks(other)];
      for (let i = 0; i < n; i++) key[i] = Math.abs(own[i] - others[i]);
    } else if (order === "fails") {
      for (const i of failuresOf.keys()) key[i] = failed(i, c).length || NaN;
    } else if (order !== "file") {
      for (let i = 0; i < n; i++) key[i] = (order === "best" ? sign : -sign) * values[i];
    }
    const places = new Uint32Array(n);
    for (let i = 0; i < n; i++) places[i] = i;
    if (order !== "file") {
      const last = key.map((value) => (Number.isNaN(value) ? -Infinity : value));
      places.sort((a, b) => last[b] - last[a] || a - b);
    }
    return { key, places };
  });

  // Which segments are shown, in which order, and what stands beside each.
  let rows = [], beside = null;
  const choose = () => {
    const asked = $("text").value.toLowerCase(), system = $("system").value, order = $("order").value;
    const [c, one, two, other] = ["score", "one", "two", "other"].map((name) => Number($(name).value));
    const { values, sign, digits } = scores[c], pairs = order === "beats", both = order === "apart";
    const low = bound("low", -Infinity), high = bound("high", Infinity);
    const short = bound("short", 0), long = bound("long", Infinity);
    const ranged = low !== -Infinity || high !== Infinity, sized = short > 0 || long !== Infinity;
    const hits = asked && folded().map((text) => text.includes(asked));
    const found = (i) => hits[data.hyps[i]] || hits[data.srcs[i]] || data.refs[i].some((k) => hits[k])
      || data.ids[i].toLowerCase().includes(asked);
    const { key, places } = sorted(order, c, pairs ? one : 0, pairs ? two : 0, both ? other : 0);
    beside = pairs ? ["A − B", (i) => (sign * key[i]).toFixed(digits)]
      : both ? ["share of segments below", (i) => `${ranks(c)[i].toFixed(2)}, ${ranks(other)[i].toFixed(2)}`]
      : order === "fails" ? ["fails", (i) => `${key[i]}: ${failed(i, c).map((one) => one.name).join(", ")}`, "named"]
      : null;
    const [way, bucket] = ($("bucket")?.value || "").split(" ").map(Number);
    const inside = bucket === undefined ? null : data.buckets[way].places;
    rows = [];
    for (const i of places) {
      if (system !== "" && !pairs && data.system[i] !== Number(system)) continue;
      if (beside && Number.isNaN(key[i])) continue;
      if (ranged && !(values[i] >= low && values[i] <= high)) continue;
      if (sized && !(words()[i] >= short && words()[i] <= long)) continue;
      if (inside && inside[i] !== bucket) continue;
      if (asked && !found(i)) continue;
      rows.push(i);
    }
    for (const name of ["beats", "apart"]) {
      for (const label of form.querySelectorAll(`.${name}`)) label.hidden = order !== name;
    }
    $("system").disabled = pairs;
    status.textContent = `${rows.length.toLocaleString("en")} of ${n.toLocaleString("en")} segments`;
    frame.scrollTop = 0;
    head();
    drawn.clear();
    draw();
  };

  // The table holds the rows in view; two empty rows stand for those above and below.
  const body = table.tBodies[0], above = make("tr"), below = make("tr"), drawn = new Map();
  above.setAttribute("aria-hidden", "true");
  below.setAttribute("aria-hidden", "true");
  const head = () => {
    const c = Number($("score").value), order = $("order").value, line = make("tr");
    const plain = (name) => line.append(make("th", { scope: "col" }, name));
    plain("id");
    if (data.systems.length > 1) plain("system");
    if (beside) line.append(make("th", { scope: "col", className: "number" }, beside[0]));
    scores.forEach((score, k) => {
      const chosen = k === c && (order === "best" || order === "worst");
      const button = make("button", { type: "button" }, score.name + (chosen ? (order === "best" ? " ▼" : " ▲") : ""));
      const cell = make("th", { scope: "col", className: "number" }, button);
      const falls = (order === "best") === (score.sign > 0);
      if (chosen) cell.setAttribute("aria-sort", falls ? "descending" : "ascending");
      button.addEventListener("click", () => {
        $("score").value = k;
        $("order").value = chosen && order === "best" ? "worst" : "best";
        choose();
        table.tHead.querySelectorAll("button")[k].focus();
      });
      line.append(cell);
    });
    if (texted) plain("text");
    table.tHead.replaceChildren(line);
    line.setAttribute("aria-rowindex", 1);
    table.setAttribute("aria-rowcount", rows.length + 1);
  };
  const row = (at) => {
    const i = rows[at], line = make("tr"), button = make("button", { type: "button" }, make("bdi", {}, data.ids[i]));
    line.setAttribute("aria-rowindex", at + 2);
    line.append(make("td", {}, button));
    if (data.systems.length > 1) line.append(make("td", {}, make("bdi", {}, systemOf(i))));
    if (beside) line.append(make("td", { className: beside[2] || "number" }, beside[1](i)));
    for (const score of scores) line.append(make("td", { className: "number" }, shown(score, i)));
    if (texted) line.append(make("td", { className: "text", dir: "auto" }, first(data.hyps[i])));
    line.addEventListener("click", () => open(i, button));
    line.dataset.at = at;
    return line;
  };
  const draw = () => {
    const from = Math.max(0, Math.floor(frame.scrollTop / HEIGHT) - SPARE);
    const to = Math.min(rows.length, Math.ceil((frame.scrollTop + frame.clientHeight) / HEIGHT) + SPARE);
    for (const [at, line] of drawn) {
      if (at < from || at >= to) {
        line.remove();
        drawn.delete(at);
      }
    }
    if (!drawn.size) body.replaceChildren(above, below);
    for (let at = from; at < to; at++) {
      if (drawn.has(at)) continue;
      const line = row(at);
      let next = below;
      for (const [other, there] of drawn) {
        if (other > at && (next === below || other < Number(next.dataset.at))) next = there;
      }
      body.insertBefore(line, next);
      drawn.set(at, line);
    }
    above.style.height = `${from * HEIGHT}px`;
    below.style.height = `${Math.max(0, rows.length - to) * HEIGHT}px`;
  };
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const line = event.target.closest("tr");
    if (!step || !line) return;
    event.preventDefault();
    const at = Math.min(rows.length - 1, Math.max(0, Number(line.dataset.at) + step));
    const top = at * HEIGHT;
    if (top < frame.scrollTop) frame.scrollTop = top;
    if (top + 2 * HEIGHT > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + 2 * HEIGHT - frame.clientHeight;
    draw();
    drawn.get(at).querySelector("button").focus({ preventScroll: true });
  });

  // Word differences: what both have in the same order stays, the rest is gone or new.
  const ALONE = "\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}";
  const PIECES = new RegExp(`\\s+|[${ALONE}]|(?:(?![${ALONE}])[\\p{L}\\p{N}\\p{M}_])+|.`, "gsu");
  const cut = (whole) => whole.match(PIECES) || [];
  const differences = (before, after) => {
    const [a, b] = [cut(before), cut(after)];
    if (a.length > MOST_WORDS || b.length > MOST_WORDS) return [after];
    const wide = b.length + 1, longest = new Uint16Array((a.length + 1) * wide);
    for (let i = a.length - 1; i >= 0; i--) {
      for (let j = b.length - 1; j >= 0; j--) {
        longest[i * wide + j] = a[i] === b[j] ? longest[(i + 1) * wide + j + 1] + 1
          : Math.max(longest[(i + 1) * wide + j], longest[i * wide + j + 1]);
      }
    }
    const parts = [];
    const add = (kind, piece) => {
      const end = parts[parts.length - 1];
      if (end && end[0] === kind) end[1] += piece;
      else parts.push([kind, piece]);
    };
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) {
        add("", b[j++]);
        i++;
      } else if (i < a.length && (j === b.length || longest[(i + 1) * wide + j] >= longest[i * wide + j + 1])) {
        add("del", a[i++]);
      } else {
        add("ins", b[j++]);
      }
    }
    return parts.map(([kind, piece]) => (kind ? make(kind, {}, piece) : piece));
  };

  const about = { className: "wide", tabIndex: 0, role: "group", ariaLabel: "Table" };
  const sheet = (kind, names, lines, left = 9) => make("div", about, make("table", { className: kind },
    make("thead", {}, make("tr", {}, ...names.map((name, k) => make("th", { scope: "col", className: k < left ? "" : "number" }, name)))), lines));

  const changed = (before, after) => (Math.max(text(before).length, text(after).length) > MOST_SHOWN ? [long(after)]
    : differences(text(before), text(after)));

  // Pairs of texts that metrics judged wrongly in an audit.
  const failures = (all) => {
    const found = all.flatMap((k) => failuresOf.get(k) || []);
    const lines = found.map((one) => {
      const before = [one.better, ...data.refs[one.of]].map((k) => changed(k, one.worse));
      const closest = before.reduce((best, other) => (other.length < best.length ? other : best));
      const both = ([c, ...pair]) => `${scores[c].name} ${pair.map((x) => x.toFixed(scores[c].digits)).join(" and ")}`;
      return make("tr", {}, make("th", { scope: "row" }, one.name),
        make("td", { className: "text", dir: "auto" }, long(one.better)),
        make("td", { className: "text", dir: "auto" }, ...closest),
        make("td", { className: "whole" }, ...one.by.map((score) => make("div", {}, both(score)))));
    });
    return found.length ? [make("h4", { className: "apart" }, "Failed in the audit"),
      sheet("texts", ["error", "better text", "worse text", "scores of both"], make("tbody", {}, ...lines))] : [];
  };

  // One item: what it was made from, and what each system wrote.
  const open = (i, opener) => {
    const all = [i, ...byItem.get(data.items[i]).filter((k) => k !== i)];
    const said = (name, k) => make("p", {}, make("span", { className: "quiet" }, `${name} `), make("bdi", {}, long(k)));
    const close = make("button", { type: "button" }, "Close");
    const against = make("select", { id: "x-against" });
    const references = data.refs[i];
    references.forEach((k, at) => against.append(make("option", { value: k }, `reference ${at + 1}`)));
    all.forEach((k) => data.hyps[k] >= 0 && against.append(make("option", { value: data.hyps[k] }, systemOf(k) || data.ids[k])));
    against.append(make("option", { value: -1 }, "nothing"));
    if ($("order").value === "beats") against.value = data.hyps[sibling(i, Number($("two").value))];
    const lines = make("tbody");
    const fill = () => {
      const base = Number(against.value);
      lines.replaceChildren(...all.map((k) => {
        const whole = base < 0 || base === data.hyps[k] ? [long(data.hyps[k])] : changed(base, data.hyps[k]);
        const cells = scores.map((score) => make("td", { className: "number" }, shown(score, k)));
        return make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, systemOf(k) || data.ids[k])),
          ...(texted ? [make("td", { className: "text", dir: "auto" }, ...whole)] : []), ...cells);
      }));
    };
    const names = ["system", ...(texted ? ["text"] : []), ...scores.map((score) => score.name)];
    panel.replaceChildren(
      make("h4", {}, make("bdi", {}, data.ids[i])), close,
      ...(data.srcs[i] < 0 ? [] : [said("source", data.srcs[i])]),
      ...references.map((k, at) => said(`reference ${at + 1}`, k)),
      ...(texted ? [make("label", {}, "Mark what differs from ", against)] : []),
      sheet("texts", names, lines, texted ? 2 : 1),
      ...failures(all),
    );
    against.addEventListener("change", fill);
    close.addEventListener("click", () => {
      panel.hidden = true;
      if (opener.isConnected) opener.focus();
      else frame.focus();
    });
    fill();
    panel.hidden = false;
    panel.focus();
  };

  if (!texted) ["short", "long"].forEach(drop);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", choose);
  form.addEventListener("reset", () => setTimeout(choose));
  frame.addEventListener("scroll", draw, { passive: true });
  addEventListener("resize", draw);
  form.hidden = frame.hidden = false;
  choose();
  if (texted) setTimeout(() => { folded(); words(); }, 100); // before the first search asks for them
})();

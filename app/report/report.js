// report.js - draws the page from the run's stats (heddle.stats.v2) and trace (trace.json), with page.js.
const stats = read("stats"), trace = read("trace"), columns = read("columns"), schedule = read("schedule");
const UNITS = ["load", "weight", "array", "vector", "store", "fetch"];
// The resolved colour, since the canvas does not support CSS variables.
const ink = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

const joules = v => stats.energy.unit === "pJ" ? short(v * 1e-12) + "J" : short(v) + " " + stats.energy.unit;

// --- the stats --------------------------------------------------------------------------------
const layers = stats.layers, groups = stats.groups || [];
const hw = Array.isArray(stats.hw) ? stats.hw : [stats.hw];
const peak = Math.max(...hw.map(h => h.rows * h.cols)), busBytes = Math.max(...hw.map(h => h.bus_bytes || 0));
const simulated = stats.host_model !== "estimate";
const timed = known(stats.cycles), cyclesOf = o => known(o.cycles) ? o.cycles : o.estimated_cycles;
const members = g => g.members.map(i => layers[i]);
const moved = l => l.actions ? l.actions.bus_read + l.actions.bus_written : 0;
const sum = (list, f) => list.reduce((n, o) => n + (f(o) || 0), 0);
// Layers and groups in their order: {layer|group, index, member}.
const rows = [];
layers.forEach((l, i) => {
  if (known(l.group) && !rows.some(r => r.group === l.group && !r.member)) rows.push({group: l.group, of: groups[l.group], index: -1});
  rows.push({of: l, index: i, member: known(l.group), group: l.group});
});
// Rows with cycles: layers without a group, and groups.
const wholes = rows.filter(r => !r.member).map(r => r.index >= 0
  ? {name: r.of.name, index: r.index, macs: r.of.accelerator_macs, bytes: moved(r.of), cycles: cyclesOf(r.of)}
  : {name: "group " + r.group, index: r.of.members[0], macs: r.of.macs, bytes: sum(members(r.of), moved), cycles: cyclesOf(r.of)});

// --- the first lines --------------------------------------------------------------------------
function first() {
  const against = stats.checked_against === "ref" ? "the CPU reference" : "the expected outputs";
  const say = {
    match: stats.statement ? stats.statement.replace(/^match: /, "") : `equal, bit for bit, to ${against}`,
    within: `outputs differ from ${against}, no more than is allowed`,
    mismatch: `outputs differ from ${against}`,
    unchecked: "outputs were compared with nothing",
  }[stats.verdict];
  document.title = `${stats.model}: ${stats.verdict} \u2013 heddle`;
  $("head").replaceChildren(
    el("h1", null, stats.model),
    el("p", {class: "run"}, `on ${hw.map(h => h.instance ? `${h.instance} (${h.name})` : h.name).join(", ")}, ` +
      `${hw[0].rows} \u00d7 ${hw[0].cols} multipliers, engine ${stats.engine}`),
    el("p", {class: "verdict " + stats.verdict}, el("b", null, stats.verdict), ": " + say));
}

function figure(label, value, unit, note) {
  return el("div", {class: "figure"}, el("div", {class: "label"}, label),
    el("div", {class: "value"}, value, unit ? el("small", null, "\u2009" + unit) : null), el("div", {class: "note"}, note));
}

function figures() {
  const f = [], clock = stats.clock, time = stats.time, total = stats.total_cycles;
  if (time) f.push(figure(`At ${clock.mhz}\u2009MHz, ${clock.origin}` + (time.estimated ? ", estimate" : ""), Number(time.milliseconds.toPrecision(4)), "ms",
    `${Number(time.inferences_per_second.toPrecision(4))} inferences/s, ${Number(time.gops.toPrecision(3))} GOPS` +
    (known(time.gops_per_klut) ? `, ${Number(time.gops_per_klut.toPrecision(3))} GOPS/kLUT4 (${time.lut4_by})` : "")));
  const host = `${whole(stats.host_cycles)} host, ${simulated ? "simulated" : "model"}`;
  f.push(figure("Cycles of an inference" + (known(total) ? "" : ", estimate"), whole(known(total) ? total : stats.estimated_total_cycles), "",
    timed ? `${whole(stats.cycles)} accelerator, measured; ${host}` + (known(total) ? "" : "; the rest by targets' own estimates")
          : known(total) ? host : `${whole(stats.estimated_cycles)} accelerator, estimate; ${host}`));
  f.push(figure("Offloaded", percent(stats.macs ? stats.accelerator_macs / stats.macs : NaN), "",
    `of ${whole(stats.macs)} MACs, ${stats.crossings} crossing${stats.crossings === 1 ? "" : "s"}`));
  if (timed) f.push(figure("Utilisation", percent(stats.utilisation), "", "of the multipliers"));
  if (timed) f.push(figure("On the memory bus", bytes(stats.dram_read_bytes + stats.dram_write_bytes), "",
    stats.memory ? `compulsory ${bytes(stats.memory.compulsory_read_bytes + stats.memory.compulsory_write_bytes)}` : ""));
  if (stats.energy) f.push(figure("Energy, model", joules(stats.energy.energy), "", `counted actions \u00d7 ${stats.energy.table}`));
  if (known(stats.accuracy)) f.push(figure("Accuracy", percent(stats.accuracy), "", `of ${stats.inferences} inferences`));
  $("figures").replaceChildren(...f);
}

// --- timeline -----------------------------------------------------------------------------------
const timeline = {from: 0, to: 1, end: 1, lanes: [], charts: [], chosen: -1};
function lanesOf() {
  const name = {}, lane = {}, process = {}, chart = {};
  for (const e of trace.traceEvents) {
    const at = e.pid + "/" + e.tid;
    if (e.ph === "M" && e.name === "thread_name") name[at] = e.args.name;
    else if (e.ph === "M") process[e.pid] = e.args.name;
    else if (e.ph === "X") (lane[at] = lane[at] || {pid: e.pid, slices: []}).slices.push(e);
    else if (e.ph === "C") (chart[e.pid + e.name] = chart[e.pid + e.name] || {pid: e.pid, name: e.name, points: []}).points.push([e.ts, e.args.bytes]);
  }
  const several = Object.keys(process).length > 2;
  const label = (pid, text) => several && pid > 1 ? `${process[pid]} ${text}` : text;
  const keys = Object.keys(name).filter(k => lane[k]);
  timeline.lanes = keys.map(k => ({...lane[k], unit: name[k], label: label(lane[k].pid, name[k])}));
  timeline.charts = Object.values(chart).map(c => ({...c, label: label(c.pid, c.name.replace("bus, bytes", "bus,").replace(" a cycle", "").replace("scratchpad, bytes in use", "scratchpad")),
    top: c.name.startsWith("bus") ? busBytes : hw[Math.min(c.pid - 2, hw.length - 1)].scratchpad_bytes}));
  timeline.end = timeline.to = trace.otherData.cycles || 1;
}

const LANE = 20, CHART = 38, LEFT = 104, TOP = 20;
const top0 = i => TOP + i * LANE, topChart = i => TOP + timeline.lanes.length * LANE + 8 + i * CHART;

function drawTimeline() {
  const c = timeline.canvas;
  if (!c) return;
  const w = c.clientWidth, h = topChart(timeline.charts.length) + 2, ratio = devicePixelRatio || 1;
  c.style.height = h + "px";
  c.width = w * ratio;
  c.height = h * ratio;
  const g = c.getContext("2d"), x = t => LEFT + (t - timeline.from) / (timeline.to - timeline.from) * (w - LEFT);
  g.scale(ratio, ratio);
  g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
  g.textBaseline = "middle";
  g.fillStyle = ink("soft");
  g.strokeStyle = ink("rule");
  g.lineWidth = 1;
  timeline.lanes.forEach((l, i) => g.fillText(l.label, 0, top0(i) + LANE / 2));
  timeline.charts.forEach((l, i) => g.fillText(l.label, 0, topChart(i) + CHART / 2 - 2, LEFT - 6));
  g.textAlign = "center";
  const span = timeline.to - timeline.from, step = ticks(span, 8)[1] || 1;
  for (let t = Math.ceil(timeline.from / step) * step; t <= timeline.to; t += step) {
    const at = Math.round(x(t)) + 0.5;
    g.beginPath(); g.moveTo(at, TOP - 4); g.lineTo(at, h); g.stroke();
    g.fillText(whole(t), Math.max(LEFT + 12, Math.min(at, w - 24)), 7);
  }
  g.save();
  g.beginPath(); g.rect(LEFT, 0, w - LEFT, h); g.clip();
  g.textAlign = "left";
  timeline.lanes.forEach((lane, i) => drawLane(g, lane, top0(i), x));
  timeline.charts.forEach((chart, i) => drawChart(g, chart, topChart(i), x, w));
  g.restore();
}

function drawLane(g, lane, y, x) {
  const colour = ink(lane.unit) || ink("host"), focus = ink("focus"), ground = ink("ground");
  let covered = -1;
  for (const s of lane.slices) {
    if (s.ts + s.dur < timeline.from || s.ts > timeline.to) continue;
    const a = x(s.ts), b = Math.max(x(s.ts + s.dur), a + 0.7), chosen = s.args.layer === timeline.chosen;
    if (b < covered + 0.4 && !chosen) continue;
    covered = b;
    g.globalAlpha = timeline.chosen >= 0 && !chosen ? 0.3 : s.args.layer % 2 ? 0.78 : 1;
    g.fillStyle = chosen ? focus : colour;
    g.fillRect(a, y + 3, b - a, LANE - 6);
    g.globalAlpha = 1;
    const from = Math.max(a, LEFT), room = b - from;
    if (b - a > 3) { g.fillStyle = ground; g.fillRect(b - 0.5, y + 3, 0.5, LANE - 6); }
    if (lane.unit !== "fetch" && room > 34 && g.measureText(s.name).width < room - 8) {
      g.fillStyle = timeline.chosen >= 0 && !chosen ? ink("soft") : ground;
      g.fillText(s.name, from + 4, y + LANE / 2);
    }
  }
}

function drawChart(g, chart, y, x, w) {
  const h = CHART - 10, most = Math.max(chart.top, ...chart.points.map(p => p[1])) || 1;
  const up = v => y + h - v / most * h, p = chart.points;
  g.strokeStyle = ink("faint");
  g.setLineDash([3, 3]);
  g.beginPath(); g.moveTo(LEFT, up(chart.top) + 0.5); g.lineTo(w, up(chart.top) + 0.5); g.stroke();
  g.setLineDash([]);
  g.beginPath();
  g.moveTo(x(0), up(0));
  p.forEach((q, i) => { g.lineTo(x(q[0]), up(i ? p[i - 1][1] : 0)); g.lineTo(x(q[0]), up(q[1])); });
  g.lineTo(x(timeline.end), up(0));
  g.closePath();
  g.fillStyle = ink(chart.name.startsWith("bus") ? "weight" : "array");
  g.globalAlpha = 0.55;
  g.fill();
  g.globalAlpha = 1;
}

function at(event) {
  const box = timeline.canvas.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
  const t = timeline.from + (px - LEFT) / (box.width - LEFT) * (timeline.to - timeline.from);
  const lane = timeline.lanes[Math.floor((py - TOP) / LANE)];
  const chart = timeline.charts[Math.floor((py - topChart(0)) / CHART)];
  const slack = (timeline.to - timeline.from) / (box.width - LEFT);
  return {t, px, lane, slice: lane && px >= LEFT && lane.slices.find(s => s.ts - slack <= t && t <= s.ts + s.dur + slack),
          chart: py >= topChart(0) && px >= LEFT ? chart : undefined};
}

function sliceText(s, lane) {
  const a = s.args;
  return [`${s.name}${a.part ? ": " + a.part : ""}`, `${lane.label}, cycles ${whole(s.ts)} to ${whole(s.ts + s.dur)}: ${whole(s.dur)}` +
    (a.model ? " (model)" : ""), known(a.command) ? `submission ${a.submission}, command ${a.command}` +
    (a.bus_bytes ? `, ${bytes(a.bus_bytes)} on the bus` : "") : ""].filter(Boolean).join("\n");
}
const valueAt = (chart, t) => { let v = 0; for (const p of chart.points) { if (p[0] > t) break; v = p[1]; } return v; };

function view(from, to) {
  const span = Math.max(16, Math.min(to - from, timeline.end));
  timeline.from = Math.max(0, Math.min(from, timeline.end - span));
  timeline.to = timeline.from + span;
  drawTimeline();
}
function zoom(factor, centre) {
  const c = known(centre) ? centre : (timeline.from + timeline.to) / 2;
  view(c - (c - timeline.from) * factor, c + (timeline.to - c) * factor);
}

function pointer(canvas) {
  let drag = null;
  canvas.addEventListener("wheel", e => { e.preventDefault(); zoom(e.deltaY < 0 ? 0.8 : 1.25, at(e).t); }, {passive: false});
  canvas.addEventListener("pointerdown", e => { drag = {x: e.clientX, from: timeline.from, to: timeline.to, far: false}; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointerup", e => {
    const hit = at(e);
    if (drag && !drag.far && hit.slice) choose(hit.slice.args.layer);
    drag = null;
  });
  canvas.addEventListener("pointermove", e => {
    if (drag) {
      const shift = (drag.x - e.clientX) / (canvas.clientWidth - LEFT) * (drag.to - drag.from);
      drag.far = drag.far || Math.abs(drag.x - e.clientX) > 3;
      if (drag.far) view(drag.from + shift, drag.to + shift);
      return;
    }
    const hit = at(e);
    tip(e, hit.slice ? sliceText(hit.slice, hit.lane) : hit.chart
      ? `${hit.chart.name}\ncycle ${whole(hit.t)}: ${Number(valueAt(hit.chart, hit.t).toPrecision(4))} of ${whole(hit.chart.top)}` : "");
  });
  canvas.addEventListener("pointerleave", e => tip(e, ""));
  canvas.addEventListener("keydown", e => {
    const span = timeline.to - timeline.from, keys = {"+": () => zoom(0.5), "-": () => zoom(2), "0": () => view(0, timeline.end),
      ArrowLeft: () => view(timeline.from - span / 4, timeline.to - span / 4), ArrowRight: () => view(timeline.from + span / 4, timeline.to + span / 4)};
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
}

function timelineSection() {
  const s = $("timeline");
  if (!trace) {
    s.append(el("p", null, stats.engine === "rtl" ? "This run kept no times." : `None: engine ${stats.engine} has no cycles. A run with --engine=rtl has.`));
    return;
  }
  lanesOf();
  const canvas = el("canvas", {tabindex: 0, role: "img", "aria-label": "Commands of each unit over time"});
  s.prepend(el("div", {class: "tools"}, el("button", {onclick: () => zoom(0.5), title: "Zoom in"}, "+"),
    el("button", {onclick: () => zoom(2), title: "Zoom out"}, "\u2212"), el("button", {onclick: () => view(0, timeline.end)}, "All")));
  s.append(el("p", null, `The first inference, in cycles, as the RTL took them; the host ${simulated ? "as the simulated processor took them: operators, driver, waiting" : "by its model"}. Wheel or +/\u2212 zooms, dragging moves, a click chooses a layer. ` +
    "Dashed: the bus's width, the scratchpad's size. trace.json has the same for Perfetto."), canvas);
  timeline.canvas = canvas;
  pointer(canvas);
  drawTimeline();
}

// --- layers -------------------------------------------------------------------------------------
function bar(o, most, member) {
  const own = known(o.host_cycles) ? o.host_cycles : 0, cycles = member ? null : cyclesOf(o);
  const part = member && known(o.array_cycles) ? Math.max(o.array_cycles, o.vector_cycles) : null;
  const wide = v => ({width: Math.max(v > 0 ? 0.6 : 0, 100 * v / most) + "%"});
  return el("div", {class: "track"}, part !== null ? el("i", {class: "part", style: wide(part)}) : null,
    cycles ? el("i", {class: known(o.cycles) ? null : "guess", style: wide(cycles)}) : null,
    own ? el("i", {class: "host", style: {...wide(own), left: 100 * (cycles || 0) / most + "%"}}) : null,
    known(o.cycles) && !member && o.estimated_cycles ? el("b", {style: {left: `calc(${100 * o.estimated_cycles / most}% - 1px)`}}) : null);
}

const coreCounts = o => Object.values(o.core_counters || {}).flatMap(Object.entries).map(([k, v]) => `${k} ${whole(v)}`).join(", ");

function why(o) {
  return [stalls(o), o.slow ? "slow: " + o.slow : ""].filter(Boolean).join("; ");
}

function stalls(o) {
  if (o.fused_into) return "in " + o.fused_into;
  if (o.reason) return o.reason;
  if (o.core_counters) return coreCounts(o);
  const [unit, kinds] = ["array", "vector"].map(u => [u, (o.counters || {})[u] || {}]).sort((a, b) => (b[1].busy || 0) - (a[1].busy || 0))[0];
  const worst = Object.entries(kinds).filter(([k, v]) => k !== "busy" && v > 0).sort((a, b) => b[1] - a[1])[0];
  return worst && o.cycles && worst[1] / o.cycles >= 0.005 ? `${unit} ${worst[0].replace("_", " ")} ${percent(worst[1] / o.cycles)}` : "";
}

function layerRow(r, most) {
  const o = r.of, group = r.index < 0, off = known(o.cycles) && o.cycles && o.estimated_cycles ? o.estimated_cycles / o.cycles - 1 : NaN;
  const energy = group ? sum(members(o), l => l.energy) : o.energy;
  return el("tr", {class: group ? "group" : r.member ? "member" : null, tabindex: 0, "data-layer": group ? o.members[0] : r.index,
      onclick: () => choose(group ? o.members[0] : r.index), onkeydown: e => e.key === "Enter" && choose(group ? o.members[0] : r.index)},
    el("td", null, group ? `group ${r.group}, ${o.members.length} layers interleaved` : o.name), el("td", null, group ? "" : o.shape), el("td", null, group ? "" : o.target),
    el("td", null, bar(o, most, r.member)), el("td", {class: "n"}, known(o.cycles) ? whole(o.cycles) : ""),
    el("td", {class: "n"}, known(o.estimated_cycles) ? whole(o.estimated_cycles) : ""),
    el("td", {class: "n"}, known(off) ? (off > 5e-4 ? "+" : off < -5e-4 ? "\u2212" : "") + Math.abs(100 * off).toFixed(1) + "\u2009%" : ""),
    el("td", {class: "n"}, o.host_cycles ? whole(o.host_cycles) : ""), el("td", {class: "n"}, o.utilisation ? percent(o.utilisation) : ""),
    el("td", {class: "n"}, energy ? joules(energy) : ""), el("td", {class: "why"}, why(o)));
}

// Only rows with the text stay; Enter chooses the first.
function search(text) {
  const found = [...document.querySelectorAll("#layers tbody tr")].filter(tr => { tr.hidden = !tr.textContent.toLowerCase().includes(text.toLowerCase()); return !tr.hidden; });
  $("found").textContent = text ? `${found.length} of ${rows.length}` : "";
  return found;
}
const searchField = () => el("p", {class: "search"}, el("input", {type: "search", id: "search", placeholder: "Search layers", "aria-label": "Search layers",
  oninput: e => search(e.target.value), onkeydown: e => { const f = e.key === "Enter" && search(e.target.value); if (f && f.length) choose(Number(f[0].dataset.layer)); }}),
  " ", el("span", {id: "found", role: "status"}));

function layerSection() {
  const most = Math.max(1, ...rows.filter(r => !r.member).map(r => (cyclesOf(r.of) || 0) + (r.of.host_cycles || 0)), ...rows.map(r => r.of.host_cycles || 0));
  const head = [["Layer"], ["Output"], ["Target"], [timed ? "Cycles" : ""], ["", 1], ["Estimate", 1], ["Off by", 1], ["Host", 1], ["Util", 1], ["Energy", 1], ["Waits most for, or why"]];
  $("layers").append(el("p", null, "Layers that the schedule interleaves have cycles as a group; their own bars are busy cycles. A click shows what each unit did."),
    key(...timed ? [[paint("array"), "accelerator, measured"], [paint("estimate"), "the schedule's estimate"]] : [],
      ...rows.some(r => !r.member && !known(r.of.cycles) && r.of.estimated_cycles) ? [[paint("guess"), "accelerator, estimate"]] : [],
      [paint("host"), simulated ? "host, simulated" : "host, model"]),
    searchField(), el("p", {class: "more"}, "More columns: scroll the table \u2192"),
    el("div", {class: "scroll", tabindex: 0}, el("table", null, el("thead", null, el("tr", null, head.map(([t, n]) => el("th", {class: n ? "n" : null}, t)))),
      el("tbody", null, rows.map(r => layerRow(r, most))))));
}

// --- one layer ----------------------------------------------------------------------------------
function unitBars(o) {
  const shade = {busy: 1, wait_bus: 0.5, wait_port: 0.5, wait_token: 0.3, wait_weight: 0.5, conflict: 0.7, drain: 0.4, wait_lane: 0.5, wait_queue: 0.3};
  return el("div", {class: "units"}, UNITS.filter(u => o.counters && o.counters[u]).map(u => {
    const kinds = Object.entries(o.counters[u]).filter(([k, v]) => v > 0 && k !== "idle" && k !== "wait_end");
    return [el("span", null, u), el("div", {class: "bar"}, kinds.map(([k, v]) => el("i", {style: {width: 100 * v / o.cycles + "%", background: `var(--${u})`, opacity: shade[k] || 0.4},
      ...tips(`${u}: ${k.replace("_", " ")} ${whole(v)} cycles, ${percent(v / o.cycles)}`)})))];
  }));
}

function window0(index) {
  let a = Infinity, b = 0;
  for (const lane of timeline.lanes) for (const s of lane.slices)
    if (s.args.layer === index && lane.unit !== "fetch") { a = Math.min(a, s.ts); b = Math.max(b, s.ts + s.dur); }
  return b ? [a, b] : null;
}

function wavesOf(l, range) {
  const w = stats.waves;
  return [w ? el("div", null, "Waves: ", el("a", {href: "waves.fst"}, "waves.fst"), `, ${whole(w.cycles)} cycles. `,
      el("a", {href: "waves.gtkw"}, "waves.gtkw"), " opens them at the layers in GTKWave.") : el("div", null, "Waves of this layer:"),
    el("code", null, w ? "gtkwave waves.fst waves.gtkw" : `heddle run ${stats.model} --waves=layer:${l.name} -o DIR`),
    range ? el("button", {onclick: () => view(range[0] - (range[1] - range[0]) / 20, range[1] + (range[1] - range[0]) / 20)}, "Show in the timeline") : null];
}

// A column for a chosen layer; a member of a group shows the group's value if it has none.
const figureOf = (c, l, own, v = known(l[c.name]) ? l[c.name] : own[c.name]) =>
  [c.label + (known(l[c.name]) || own === l ? "" : ` of group ${l.group}`) + (c.name === "host_cycles" && !simulated ? ", model" : ""), v ? (c.type === "share" ? percent : whole)(v) : ""];
function choose(index) {
  const l = layers[index], d = $("detail"), own = known(l.group) ? groups[l.group] : l, range = trace ? window0(index) : null;
  const list = [["Operator", l.op], ["Tensor", l.tensor], ["Output", l.shape], ["Target", l.target],
    ...columns.filter(c => c.label).map(c => figureOf(c, l, own)),
    ["Read, written", l.actions ? `${bytes(l.actions.bus_read)}, ${bytes(l.actions.bus_written)}` : ""], ["Energy, model", l.energy ? joules(l.energy) : ""],
    ["Activations held, needed", known(l.activation_bytes) ? `${bytes(l.activation_bytes)}, ${bytes(l.live_bytes)}` : ""],
    ["In the timeline", range ? `${whole(range[0])} to ${whole(range[1])}` : ""]];
  d.hidden = false;
  d.replaceChildren(el("button", {class: "close", onclick: unchoose, "aria-label": "Close"}, "\u00d7"), el("h3", null, l.name), el("div", null, why(l)),
    el("dl", null, list.filter(e => e[1]).map(([k, v]) => [el("dt", null, k), el("dd", null, v)])), schedule[index] ? el("pre", {title: "Its tiles in the schedule; heddle compile -o DIR leaves the commands as C in commands.c"}, schedule[index].trim()) : "",
    own.counters && own.cycles ? unitBars(own) : "", ...wavesOf(l, range).filter(Boolean));
  mark(index);
}
function unchoose() { $("detail").hidden = true; mark(-1); }
function mark(index) {
  timeline.chosen = index;
  document.querySelectorAll(".chosen").forEach(e => e.classList.remove("chosen"));
  document.querySelectorAll(`tr[data-layer="${index}"]:not(.group), #drawing #layer${index}`).forEach(e => {
    const block = e.closest("details");
    e.classList.add("chosen");
    if (block) block.open = true;
  });
  drawTimeline();
}

// A layer's cycles; a member of a group has its share of the group's, by busy cycles.
const busy = l => Math.max(l.array_cycles || 0, l.vector_cycles || 0);
function timeOf(l) {
  const g = known(l.group) ? groups[l.group] : null, all = g ? sum(members(g), busy) : 0;
  return (g ? (cyclesOf(g) || 0) * (all ? busy(l) / all : 1 / g.members.length) : cyclesOf(l) || 0) + (l.host_cycles || 0);
}

const graphZoom = {factor: 1};
function zoomGraph(factor) {
  graphZoom.factor = factor ? Math.min(4, Math.max(0.25, graphZoom.factor * factor)) : 1;
  for (const svg of document.querySelectorAll("#drawing svg")) {
    svg.style.width = factor ? svg.viewBox.baseVal.width * graphZoom.factor + "px" : "";
    svg.style.maxWidth = factor ? "none" : "";
  }
}

// Boxes: darker with their part of the time. Blocks of a large network: a line that opens them.
function paintGraph() {
  const nodes = [...document.querySelectorAll("#drawing .node")], layerOf = n => layers[Number(n.id.slice(5))];
  const most = Math.max(1, ...layers.map(timeOf)), all = Math.max(1, sum(layers, timeOf));
  for (const n of nodes) {
    const l = layerOf(n), kind = n.classList.contains("host") ? "host" : n.classList.contains("accelerator") ? "array" : "faint";
    for (const [k, v] of Object.entries({tabindex: 0, role: "button", "aria-label": `${l.name}, ${percent(timeOf(l) / all)} of the time`})) n.setAttribute(k, v);
    n.querySelector("rect").style.fill = `color-mix(in srgb, var(--${kind}) ${(6 + 50 * timeOf(l) / most).toFixed(1)}%, var(--ground))`;
    n.addEventListener("click", () => choose(Number(n.id.slice(5))));
    n.addEventListener("keydown", e => e.key === "Enter" && choose(Number(n.id.slice(5))));
  }
  const blocks = [...document.querySelectorAll("#drawing details")].map(d => [d, [...d.querySelectorAll(".node")].map(layerOf)]);
  const longest = Math.max(1, ...blocks.map(([, own]) => sum(own, timeOf)));
  for (const [d, own] of blocks) {
    const time = sum(own, timeOf), part = time / all;
    d.querySelector("summary").append(el("span", {class: "track"}, el("i", {style: {width: 100 * time / longest + "%"}})),
      `${own[0].name}${own.length > 1 ? " to " + own[own.length - 1].name : ""}: ${own.length} layers, ${percent(part)} of the time`);
  }
}

function graphSection() {
  const drawing = $("drawing"), blocks = document.querySelectorAll("#drawing details");
  const off = layers.filter(l => l.target === "c"), text = off.length ? `On the host: ${off.map(l => l.name).join(", ")}.` : "All operators run on accelerators.";
  const add = e => $("graph").insertBefore(e, drawing), keys = {"+": 1.25, "-": 0.8, "0": 0};
  paintGraph();
  add(el("div", {class: "tools"}, el("button", {onclick: () => zoomGraph(1.25), title: "Zoom in"}, "+"), el("button", {onclick: () => zoomGraph(0.8), title: "Zoom out"}, "\u2212"),
    el("button", {onclick: () => zoomGraph(0)}, "Fit"),
    blocks.length ? el("button", {onclick: () => { const open = ![...blocks].every(d => d.open); blocks.forEach(d => { d.open = open; }); }}, "All blocks") : null));
  add(el("p", null, text + " The darker a box, the more of the time it takes. A dashed arrow crosses between targets; a click on a box gives the rule."));
  if (drawing.querySelector("svg")) add(key([paint("array"), "accelerator"], [paint("host"), "host"]));
  for (const [k, v] of Object.entries({tabindex: 0, role: "group", "aria-label": "Graph of the layers"})) drawing.setAttribute(k, v);
  drawing.addEventListener("keydown", e => e.key in keys && zoomGraph(keys[e.key]));
}

// --- charts -------------------------------------------------------------------------------------
const W = 520, H = 270, M = {l: 62, r: 12, t: 10, b: 34};
function frame(xTicks, x, xText, yTicks, y, yText, xLabel, yLabel) {
  return svg("svg", {viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Chart: ${yLabel || "bytes"} by ${xLabel}`},
    yTicks.map(v => [svg("line", {class: "rule", x1: M.l, x2: W - M.r, y1: y(v), y2: y(v)}), svg("text", {x: M.l - 6, y: y(v) + 4, "text-anchor": "end"}, yText(v))]),
    xTicks.map(v => svg("text", {x: x(v), y: H - M.b + 15, "text-anchor": "middle"}, xText(v))),
    svg("line", {class: "axis", x1: M.l, x2: W - M.r, y1: H - M.b, y2: H - M.b}),
    svg("text", {x: (M.l + W - M.r) / 2, y: H - 3, "text-anchor": "middle"}, xLabel),
    svg("text", {x: 12, y: (M.t + H - M.b) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(M.t + H - M.b) / 2})`}, yLabel));
}

function rooflineSection() {
  const points = wholes.filter(p => p.macs && p.cycles && p.bytes), s = $("roofline");
  if (!points.length || !busBytes) return s.append(el("p", null, "No layer with MACs on an accelerator."));
  const xs = points.map(p => p.macs / p.bytes), ys = points.map(p => p.macs / p.cycles);
  const x0 = Math.min(0.5, ...xs) / 1.5, x1 = Math.max(4 * peak / busBytes, ...xs) * 1.5, y1 = peak * 2, y0 = Math.min(peak / 100, ...ys) / 1.5;
  const x = v => M.l + Math.log(v / x0) / Math.log(x1 / x0) * (W - M.l - M.r), y = v => H - M.b - Math.log(v / y0) / Math.log(y1 / y0) * (H - M.t - M.b);
  const decades = (a, b) => { const all = []; for (let e = Math.ceil(Math.log10(a)); 10 ** e <= b; e++) all.push(10 ** e); return all; };
  const plot = frame(decades(x0, x1), x, decade, decades(y0, y1), y, decade, "MACs per byte on the bus", "MACs per cycle");
  const knee = peak / busBytes, low = Math.max(x0, y0 / busBytes);
  plot.append(svg("path", {d: `M${x(low)} ${y(low * busBytes)} L${x(knee)} ${y(peak)} L${x(x1)} ${y(peak)}`, fill: "none", stroke: paint("soft"), "stroke-width": 1.5}),
    svg("text", {x: W - M.r, y: y(peak) - 5, "text-anchor": "end"}, `${peak} MACs a cycle`),
    svg("text", {x: x(Math.sqrt(low * knee)) - 6, y: y(Math.sqrt(low * knee) * busBytes) - 6, "text-anchor": "end"}, `${busBytes} B a cycle`),
    ...points.map((p, i) => svg("circle", {cx: x(xs[i]), cy: y(ys[i]), r: 4.5, fill: paint("array"), "fill-opacity": 0.75, stroke: paint("ground"), style: {cursor: "pointer"},
      onclick: () => choose(p.index), ...tips(`${p.name}\n${Number(xs[i].toPrecision(3))} MACs/byte, ${Number(ys[i].toPrecision(3))} MACs/cycle`)})));
  s.append(el("p", null, `Layers and groups, ${timed ? "measured" : "estimated"}, under what multipliers and bus allow.`), plot);
}

function memorySection() {
  const s = $("memory"), held = layers.map((l, i) => ({l, i})).filter(e => known(e.l.activation_bytes));
  if (!held.length || !stats.memory) return s.append(el("p", null, "This run holds no activations in an accelerator."));
  const bound = stats.memory.live_range_bytes, most = Math.max(bound, ...held.map(e => Math.max(e.l.activation_bytes, e.l.live_bytes))) * 1.1;
  const step = (W - M.l - M.r) / held.length, x = i => M.l + i * step, y = v => H - M.b - v / most * (H - M.t - M.b);
  const every = Math.ceil(held.length / 12), line = f => held.map((e, i) => `${i ? "L" : "M"}${x(i)} ${y(f(e.l))} L${x(i + 1)} ${y(f(e.l))}`).join(" ");
  const plot = frame(held.map((e, i) => i).filter(i => i % every === 0), i => x(i + 0.5), i => String(held[i].i), ticks(most / 1024, 5).map(v => v * 1024), y, bytes, "layer", "");
  plot.append(svg("path", {d: `${line(l => l.activation_bytes)} L${x(held.length)} ${y(0)} L${x(0)} ${y(0)} Z`, fill: paint("array"), "fill-opacity": 0.3}),
    svg("path", {d: line(l => l.live_bytes), fill: "none", stroke: paint("array"), "stroke-width": 1.5}),
    svg("line", {x1: M.l, x2: W - M.r, y1: y(bound), y2: y(bound), stroke: paint("focus"), "stroke-dasharray": "4 3"}),
    ...held.map((e, i) => svg("rect", {x: x(i), y: M.t, width: step, height: H - M.t - M.b, fill: "transparent", style: {cursor: "pointer"}, onclick: () => choose(e.i),
      ...tips(`${e.l.name}\nheld ${bytes(e.l.activation_bytes)}, needed ${bytes(e.l.live_bytes)}`)})));
  s.append(el("p", null, `Bytes alive while each layer runs. Peak ${bytes(stats.memory.activation_bytes)}; no plan for this order and these groups needs less than ${bytes(bound)}.`),
    key([paint("array"), "needed (line), held (area)"], [paint("focus"), "live-range bound"]), plot);
}

// Draw horizontal bars: [name, index, [[colour, value, label], ...]].
function bars(list, text, label) {
  const most = Math.max(1e-30, ...list.map(b => sum(b[2], p => p[1]))), row = 17, left = 130, h = list.length * row + 4;
  const scale = v => v / most * (W - left - 76);
  return svg("svg", {viewBox: `0 0 ${W} ${h}`, role: "img", "aria-label": label}, list.map(([name, index, parts], i) => {
    let from = left;
    const total = sum(parts, p => p[1]);
    return svg("g", {style: {cursor: index >= 0 ? "pointer" : "default"}, onclick: () => index >= 0 && choose(index)},
      svg("text", {x: left - 8, y: i * row + 12, "text-anchor": "end", class: "ink"}, name.length > 20 ? name.slice(0, 19) + "\u2026" : name),
      parts.map(([colour, v, label]) => { const r = svg("rect", {x: from, y: i * row + 3, width: scale(v), height: row - 6, fill: colour, ...tips(`${name}\n${label} ${text(v)}`)}); from += scale(v); return r; }),
      svg("text", {x: from + 6, y: i * row + 12}, text(total)));
  }));
}

function trafficSection() {
  const s = $("traffic"), list = layers.map((l, i) => [l.name, i, [[paint("weight"), l.actions ? l.actions.bus_read : 0, "read"], [paint("store"), l.actions ? l.actions.bus_written : 0, "written"]]])
    .filter(b => b[2][0][1] + b[2][1][1] > 0);
  if (!list.length) return s.append(el("p", null, "Nothing moved for an accelerator."));
  const m = stats.memory, all = sum(layers, moved), least = m.compulsory_read_bytes + m.compulsory_write_bytes;
  s.append(el("p", null, `Bytes on the bus for the commands of each layer. In all ${bytes(all)}, ${(all / least).toFixed(2)} times what is compulsory ` +
    `(weights ${bytes(m.compulsory_weight_bytes)}, inputs ${bytes(m.compulsory_read_bytes - m.compulsory_weight_bytes)}, outputs ${bytes(m.compulsory_write_bytes)}).`),
    key([paint("weight"), "read"], [paint("store"), "written"]), bars(list, bytes, "Chart: bytes read and written"));
}

function energySection() {
  const s = $("energy"), e = stats.energy;
  if (!e) return s.append(el("p", null, "No commands of the accelerator to count."));
  const of = (...names) => sum(names, n => e.actions[n] * e.costs[n]), count = (...names) => short(sum(names, n => e.actions[n]));
  const parts = [["multiply and add", "array", ["mac"]], ["vector", "vector", ["vector_op"]], ["requantise", "vector", ["requantise"]],
    ["scratchpad", "load", ["scratchpad_read", "scratchpad_written"]], ["weights", "weight", ["weight_read", "weight_written"]],
    ["accumulators", "store", ["accumulator_read", "accumulator_written"]], ["memory bus", "host", ["bus_read", "bus_written"]]];
  s.append(el("p", null, `A model: counted actions \u00d7 ${e.table} (${e.source}). Without host, leakage and clocks.`),
    bars(parts.map(([name, colour, actions]) => [name, -1, [[paint(colour), of(...actions), `${count(...actions)} \u00d7`]]]), joules, "Chart: energy by part"));
}

// --- the page -----------------------------------------------------------------------------------
function page() {
  first();
  figures();
  timelineSection();
  layerSection();
  graphSection();
  rooflineSection();
  memorySection();
  trafficSection();
  energySection();
  $("foot").append(`${stats.schema}; every number is explained in docs/REPORT.md. Simulated in ${Number(stats.sim.wall_seconds.toPrecision(3))} s.`);
}
page();
hint();
addEventListener("resize", () => { drawTimeline(); hint(); });
addEventListener("keydown", e => e.key === "Escape" && unchoose());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTimeline);
for (const [event, print] of [["beforeprint", true], ["afterprint", false]])
  addEventListener(event, () => { document.documentElement.classList.toggle("print", print); drawTimeline(); });

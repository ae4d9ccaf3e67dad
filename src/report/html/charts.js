// Vega specifications of the kinds of charts; the data and the words come with the figure.
var palette = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#56B4E9', '#D55E00', '#8C6BB1', '#7A7A7A'];
var none = '#7A7A7A';
var light = ['#E69F00', '#CC79A7', '#56B4E9'];   // of them: letters on these are dark

var plain = ',.12~g';   // 1,000 and not 1e+3

function axis(options) {
  return Object.assign({titlePadding: 6, labelOverlap: true, labelLimit: 260, grid: false}, options);
}

// Sizes in the units of caches.
function sizes(spec) {
  if (!spec.bytes) return {};
  return {encode: {labels: {update: {text: {signal: "datum.value >= 1073741824 ? format(datum.value / 1073741824, '.4~g') + ' GiB' : datum.value >= 1048576 ? format(datum.value / 1048576, '.4~g') + ' MiB' : datum.value >= 1024 ? format(datum.value / 1024, '.4~g') + ' KiB' : format(datum.value, '.4~g')"}}}}};
}

// Where a logarithmic axis has its lines: at powers, as many as can be read.
function powers(spec) {
  if (!spec.log || !spec.domain) return {};
  var base = spec.base || 10;
  if (spec.domain[1] / spec.domain[0] < 50) base = 2;   // less than two decades
  var first = Math.ceil(Math.log(spec.domain[0]) / Math.log(base) - 1e-9), last = Math.floor(Math.log(spec.domain[1]) / Math.log(base) + 1e-9);
  var step = Math.max(1, Math.ceil((last - first + 1) / 12)), values = [];
  for (var e = first; e <= last; e += step) values.push(Math.pow(base, e));
  return values.length > 1 ? {values: values} : {};
}

function numeric(name, spec, field, sources, range) {
  var scale = {name: name, type: spec.log ? 'log' : 'linear', range: range, nice: !spec.log && !spec.domain && spec.nice !== false, zero: !spec.log && spec.zero !== false};
  if (spec.log) scale.base = spec.base || 10;
  scale.domain = spec.domain || {fields: sources.map(function (s) { return {data: s, field: field}; })};
  return scale;
}

// Horizontal bars, one a row: {label, value, text, tip}.
function bars(chart) {
  var rows = chart.rows;
  return {
    height: Math.max(24, rows.length * 24),
    data: [{name: 'rows', values: rows}],
    scales: [
      {name: 'y', type: 'band', domain: rows.map(function (r) { return r.label; }), range: 'height', padding: 0.25},
      {name: 'x', domain: chart.domain || {data: 'rows', field: 'value'}, range: 'width', nice: !chart.domain, zero: true},
    ],
    axes: [axis({orient: 'left', scale: 'y', domain: false, ticks: false}), axis({orient: 'bottom', scale: 'x', format: chart.format || plain, title: chart.x, tickCount: 5, grid: true})],
    marks: [
      {type: 'rect', from: {data: 'rows'}, encode: {enter: {y: {scale: 'y', field: 'label'}, height: {scale: 'y', band: 1}, x: {scale: 'x', value: 0}, x2: {scale: 'x', field: 'value'},
        fill: {signal: 'datum.colour != null ? palette[datum.colour] : palette[0]'}, tooltip: {field: 'tip'}, cornerRadius: {value: 2}}}},
      {type: 'text', from: {data: 'rows'}, encode: {enter: {y: {scale: 'y', field: 'label', band: 0.5}, baseline: {value: 'middle'}, text: {field: 'text'}, fontSize: {value: 11},
        x: {scale: 'x', field: 'value', offset: {signal: "scale('x', datum.value) > width * 0.85 ? -5 : 5"}}, align: {signal: "scale('x', datum.value) > width * 0.85 ? 'right' : 'left'"},
        fill: {signal: "scale('x', datum.value) > width * 0.85 ? '#ffffff' : 'black'"}, tooltip: {field: 'tip'}}}},
    ],
    signals: [{name: 'palette', value: palette}],
  };
}

// Horizontal bars of parts: {label, part, value, tip}; parts in the order of chart.parts.
function stacked(chart) {
  var labels = [];
  chart.rows.forEach(function (r) { if (labels.indexOf(r.label) < 0) labels.push(r.label); });
  return {
    height: Math.max(28, labels.length * 28),
    signals: [{name: 'light', value: light}],
    data: [{name: 'rows', values: chart.rows, transform: [{type: 'stack', groupby: ['label'], field: 'value', sort: {field: 'order'}, as: ['from', 'to']}]}],
    scales: [
      {name: 'y', type: 'band', domain: labels, range: 'height', padding: 0.2},
      {name: 'x', domain: chart.domain || {data: 'rows', field: 'to'}, range: 'width', nice: !chart.domain, zero: true},
      {name: 'colour', type: 'ordinal', domain: chart.parts, range: chart.parts.map(function (p, i) { return i < palette.length - 1 ? palette[i] : none; })},
    ],
    axes: [axis({orient: 'left', scale: 'y', domain: false, ticks: false}), axis({orient: 'bottom', scale: 'x', format: chart.format || plain, title: chart.x, tickCount: 6})],
    legends: [{fill: 'colour', orient: 'bottom', columns: 4, symbolType: 'square', labelLimit: 200}],
    marks: [
      {type: 'rect', from: {data: 'rows'}, encode: {enter: {y: {scale: 'y', field: 'label'}, height: {scale: 'y', band: 1}, x: {scale: 'x', field: 'from'}, x2: {scale: 'x', field: 'to'},
        fill: {scale: 'colour', field: 'part'}, tooltip: {field: 'tip'}}}},
      {type: 'text', from: {data: 'rows'}, encode: {enter: {y: {scale: 'y', field: 'label', band: 0.5}, x: {signal: "(scale('x', datum.from) + scale('x', datum.to)) / 2"}, align: {value: 'center'},
        baseline: {value: 'middle'}, fontSize: {value: 10}, tooltip: {field: 'tip'},
        fill: {signal: "indexof(light, scale('colour', datum.part)) < 0 ? '#ffffff' : '#1a1a1a'"}, text: {signal: "scale('x', datum.to) - scale('x', datum.from) > 8 + 6 * length(datum.part) ? datum.part : ''"}}}},
    ],
  };
}

// Lines and points over two numbers. chart.lines: {series, x, y}; chart.points: {series, x, y, tip, shape}; chart.rules: {x, label}, with an interval low, high, tip;
// chart.levels: {x, x2, y, label, tip}; chart.small: points that are many.
function xy(chart) {
  var series = [];
  (chart.lines || []).concat(chart.points || []).forEach(function (r) { if (series.indexOf(r.series) < 0) series.push(r.series); });
  var sources = ['lines', 'points'].filter(function (s) { return (chart[s] || []).length; });
  var spec = {
    height: 280,
    data: ['lines', 'points', 'rules', 'levels'].map(function (s) { return {name: s, values: chart[s] || []}; }),
    scales: [
      numeric('x', chart.x, 'x', sources, 'width'), numeric('y', chart.y, 'y', sources, 'height'),
      {name: 'colour', type: 'ordinal', domain: series, range: palette},
      {name: 'shape', type: 'ordinal', domain: series, range: ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'triangle-down']},
      {name: 'dash', type: 'ordinal', domain: series, range: [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 0], [6, 3]]},
    ],
    axes: [axis(Object.assign({orient: 'bottom', scale: 'x', title: chart.x.title, tickCount: 6, format: chart.x.format || plain, grid: true}, powers(chart.x), sizes(chart.x))),
           axis(Object.assign({orient: 'left', scale: 'y', title: chart.y.title, tickCount: 6, format: chart.y.format || plain, grid: true}, powers(chart.y), sizes(chart.y)))],
    marks: [
      {type: 'group', clip: true, encode: {enter: {width: {signal: 'width'}, height: {signal: 'height'}}}, marks: [
        {type: 'rect', from: {data: 'rules'}, encode: {enter: {x: {scale: 'x', signal: 'datum.low == null ? datum.x : datum.low'}, x2: {scale: 'x', signal: 'datum.high == null ? datum.x : datum.high'}, y: {value: 0}, y2: {signal: 'height'},
          fill: {value: palette[5]}, fillOpacity: {value: 0.15}, tooltip: {signal: 'datum.tip || datum.label'}}}},
        {type: 'rule', from: {data: 'levels'}, encode: {enter: {x: {scale: 'x', field: 'x'}, x2: {scale: 'x', field: 'x2'}, y: {scale: 'y', field: 'y'}, stroke: {value: palette[1]}, strokeWidth: {value: 9}, strokeOpacity: {value: 0.55},
          strokeCap: {value: 'round'}, tooltip: {field: 'tip'}}}},
        {type: 'group', from: {facet: {name: 'one', data: 'lines', groupby: 'series'}}, marks: [{type: 'line', from: {data: 'one'}, encode: {enter: {
          x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}, stroke: {scale: 'colour', field: 'series'}, strokeWidth: {value: 2}, strokeDash: {scale: 'dash', field: 'series'},
          interpolate: {value: chart.step ? 'step-after' : 'linear'}, tooltip: {field: 'series'}}}}]},
        {type: 'rule', from: {data: 'rules'}, encode: {enter: {x: {scale: 'x', field: 'x'}, y: {value: 0}, y2: {signal: 'height'}, stroke: {value: palette[5]}, strokeDash: {value: [4, 3]}, strokeWidth: {value: 1.5}, tooltip: {signal: 'datum.tip || datum.label'}}}},
        {type: 'symbol', from: {data: 'points'}, encode: {enter: {x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}, size: {value: chart.small ? 28 : 90}, fill: {scale: 'colour', field: 'series'},
          shape: {scale: 'shape', field: 'series'}, stroke: {value: '#ffffff'}, strokeWidth: {value: chart.small ? 0 : 1}, tooltip: {field: 'tip'}}}},
      ]},
      // Above its level; of the uppermost, which has no room there, below.
      {type: 'text', from: {data: 'levels'}, encode: {enter: {x: {signal: "clamp((scale('x', datum.x) + scale('x', datum.x2)) / 2, 3.2 * length(datum.label), width - 3.2 * length(datum.label))"},
        y: {signal: "scale('y', datum.y) < 24 ? scale('y', datum.y) + 20 : scale('y', datum.y) - 11"}, align: {value: 'center'}, fontSize: {value: 11}, text: {field: 'label'}, fill: {value: 'black'}, tooltip: {field: 'tip'}}}},
      {type: 'text', from: {data: 'rules'}, encode: {enter: {x: {scale: 'x', field: 'x', offset: {signal: "scale('x', datum.x) > width * 0.7 ? -4 : 4"}}, y: {value: 10}, text: {field: 'label'}, fontSize: {value: 11},
        align: {signal: "scale('x', datum.x) > width * 0.7 ? 'right' : 'left'"}, fill: {value: 'black'}}}},
    ],
  };
  if (series.length > 1) spec.legends = [Object.assign({orient: 'bottom', columns: 3, labelLimit: 300, symbolStrokeWidth: 2},
    sources.indexOf('lines') >= 0 ? {stroke: 'colour', symbolType: 'stroke', strokeDash: 'dash'} : {fill: 'colour', shape: 'shape'})];
  return spec;
}

// Cells of a map: {x, y, value, tip} of whole x and y.
function heat(chart) {
  var columns = chart.columns, lines = chart.lines;
  return {
    height: Math.min(420, Math.max(60, lines * 6)),
    data: [{name: 'rows', values: chart.rows}],
    scales: [
      {name: 'x', domain: [0, columns], range: 'width'}, {name: 'y', domain: [0, lines], range: [0, {signal: 'height'}]},
      {name: 'colour', type: 'linear', domain: [0, {signal: 'most'}], range: ['#FFF3D6', '#E69F00', '#7A1E00'], zero: true},
    ],
    signals: [{name: 'most', value: Math.max.apply(null, chart.rows.map(function (r) { return r.value; }).concat([1]))}],
    axes: [axis({orient: 'bottom', scale: 'x', title: chart.x}), axis({orient: 'left', scale: 'y', title: chart.y})],
    legends: [{fill: 'colour', title: chart.value, orient: 'bottom', direction: 'horizontal', gradientLength: 200}],
    marks: [{type: 'rect', from: {data: 'rows'}, encode: {enter: {x: {scale: 'x', field: 'x'}, x2: {scale: 'x', signal: 'datum.x + 1'}, y: {scale: 'y', field: 'y'}, y2: {scale: 'y', signal: 'datum.y + 1'},
      fill: {scale: 'colour', field: 'value'}, tooltip: {field: 'tip'}}}}],
  };
}

// Bars of parts side by side: {label, part, value, text, tip}; parts in the order of chart.parts. chart.rule: where 1 is, or another mark: {x, label}.
function grouped(chart) {
  var labels = [], height = 8 + 15 * chart.parts.length;
  chart.rows.forEach(function (r) { if (labels.indexOf(r.label) < 0) labels.push(r.label); });
  return {
    height: Math.max(28, labels.length * height),
    signals: [{name: 'inner', update: "bandwidth('y')"}, {name: 'light', value: light}],
    data: [{name: 'rows', values: chart.rows}, {name: 'rules', values: chart.rules || []}],
    scales: [
      {name: 'y', type: 'band', domain: labels, range: 'height', paddingInner: 0.18, paddingOuter: 0.08},
      {name: 'part', type: 'band', domain: chart.parts, range: [0, {signal: 'inner'}], padding: 0.06},
      {name: 'x', domain: {data: 'rows', field: 'value'}, range: 'width', nice: true, zero: true},
      {name: 'colour', type: 'ordinal', domain: chart.parts, range: palette.slice(0, 7).concat(['#4D9221', '#7A5230', none])},
    ],
    axes: [axis({orient: 'left', scale: 'y', domain: false, ticks: false}), axis({orient: 'bottom', scale: 'x', format: chart.format || plain, title: chart.x, tickCount: 6, grid: true})],
    legends: chart.parts.length > 1 ? [{fill: 'colour', orient: 'bottom', columns: 4, symbolType: 'square', labelLimit: 200}] : [],
    marks: [
      {type: 'rect', from: {data: 'rows'}, encode: {enter: {y: {signal: "scale('y', datum.label) + scale('part', datum.part)"}, height: {scale: 'part', band: 1}, x: {scale: 'x', value: 0}, x2: {scale: 'x', field: 'value'},
        fill: {scale: 'colour', field: 'part'}, tooltip: {field: 'tip'}, cornerRadius: {value: 2}}}},
      {type: 'rule', from: {data: 'rules'}, encode: {enter: {x: {scale: 'x', field: 'x'}, y: {value: 0}, y2: {signal: 'height'}, stroke: {value: palette[5]}, strokeDash: {value: [4, 3]}, strokeWidth: {value: 1.5}, tooltip: {field: 'label'}}}},
      {type: 'text', from: {data: 'rows'}, encode: {enter: {y: {signal: "scale('y', datum.label) + scale('part', datum.part) + bandwidth('part') / 2"}, baseline: {value: 'middle'}, text: {field: 'text'}, fontSize: {value: 10},
        x: {scale: 'x', field: 'value', offset: {signal: "scale('x', datum.value) > width * 0.92 ? -4 : 4"}}, align: {signal: "scale('x', datum.value) > width * 0.92 ? 'right' : 'left'"},
        fill: {signal: "scale('x', datum.value) > width * 0.92 ? (indexof(light, scale('colour', datum.part)) < 0 ? '#ffffff' : '#1a1a1a') : 'black'"}, tooltip: {field: 'tip'}}}},
    ],
  };
}

// Letters on a colour.
function ink(colour) {
  var v = parseInt(colour.slice(1), 16), light = 0.299 * (v >> 16) + 0.587 * (v >> 8 & 255) + 0.114 * (v & 255);
  return light > 140 ? '#1a1a1a' : '#ffffff';
}

// Slices on rows: {row, from, to, label, tip} and a colour: a number, or the name of one of chart.parts ({name, colour}, which has a legend); thin: beside the others, as waiting is.
// chart.rows_of: the rows in their order, chart.row: their height.
function gantt(chart) {
  var rows = chart.rows_of || [], parts = chart.parts || [], height = chart.row || 34, many = chart.rows.length > 300, thin = chart.rows.some(function (r) { return r.thin; });
  chart.rows.forEach(function (r) { if (rows.indexOf(r.row) < 0) rows.push(r.row); });
  var colours = {};
  parts.forEach(function (p) { colours[p.name] = p.colour; });
  var text = chart.rows.filter(function (r) { return !r.thin && r.label; }).map(function (r) { return Object.assign({ink: ink(r.part != null ? colours[r.part] : palette[r.colour % 8])}, r); });
  return {
    height: Math.max(40, rows.length * height),
    data: [{name: 'rows', values: chart.rows}, {name: 'text', values: height < 14 ? [] : text}],
    scales: [{name: 'y', type: 'band', domain: rows, range: 'height', padding: height < 14 ? 0.1 : 0.15}, {name: 'x', domain: [chart.begin || 0, chart.end], range: 'width', zero: false},
             {name: 'part', type: 'ordinal', domain: parts.map(function (p) { return p.name; }), range: parts.map(function (p) { return p.colour; })}],
    signals: [{name: 'palette', value: palette}],
    axes: [axis({orient: 'left', scale: 'y', domain: false, ticks: false}), axis({orient: 'bottom', scale: 'x', title: chart.x, tickCount: 6, grid: true, format: plain})],
    legends: parts.length ? [{fill: 'part', orient: 'bottom', columns: 4, symbolType: 'square', labelLimit: 200}] : [],
    marks: [
      {type: 'rect', from: {data: 'rows'}, encode: {enter: {y: {scale: 'y', field: 'row', band: {signal: 'datum.thin ? 0.8 : 0'}}, height: {scale: 'y', band: {signal: 'datum.thin ? 0.2 : ' + (thin ? '0.74' : '1') + ''}},
        x: {scale: 'x', field: 'from'}, x2: {signal: "max(scale('x', datum.to), scale('x', datum.from) + " + (many ? '0.4' : '1') + ')'},
        fill: {signal: "datum.part != null ? scale('part', datum.part) : palette[datum.colour % 8]"}, fillOpacity: {signal: 'datum.thin ? 0.45 : 1'}, stroke: {value: '#ffffff'}, strokeWidth: {value: many ? 0 : 0.5}, tooltip: {field: 'tip'}}}},
      {type: 'text', from: {data: 'text'}, encode: {enter: {y: {scale: 'y', field: 'row', band: thin ? 0.37 : 0.5}, x: {scale: 'x', field: 'from', offset: 4}, baseline: {value: 'middle'}, fontSize: {value: 10},
        fill: {field: 'ink'},
        limit: {signal: "max(scale('x', datum.to) - scale('x', datum.from) - 8, 1)"}, text: {signal: "scale('x', datum.to) - scale('x', datum.from) > 30 ? datum.label : ''"}, tooltip: {field: 'tip'}}}},
    ],
  };
}

// Boxes and arrows between them, on a grid of 100 by 100: chart.boxes {x, y, w, h, label, text, share, tip}, chart.arrows {x, y, x2, y2, label, tip}.
function flow(chart) {
  return {
    height: 260,
    data: [{name: 'boxes', values: chart.boxes}, {name: 'arrows', values: chart.arrows}],
    scales: [{name: 'x', domain: [0, 100], range: 'width'}, {name: 'y', domain: [0, 100], range: [0, {signal: 'height'}]},
             {name: 'colour', type: 'linear', domain: [0, 0.5, 1], range: ['#DCEBF5', '#F6CF7A', '#E2703A'], clamp: true}],
    legends: [{fill: 'colour', title: 'share of the peak', orient: 'bottom', direction: 'horizontal', gradientLength: 160, format: '.0%'}],
    marks: [
      {type: 'rule', from: {data: 'arrows'}, encode: {enter: {x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}, x2: {scale: 'x', field: 'x2'}, y2: {scale: 'y', field: 'y2'}, stroke: {value: none}, strokeWidth: {value: 2}, tooltip: {field: 'tip'}}}},
      {type: 'symbol', from: {data: 'arrows'}, encode: {enter: {x: {scale: 'x', field: 'x2'}, y: {scale: 'y', field: 'y2'}, size: {value: 90}, fill: {value: none},
        shape: {signal: "datum.x2 > datum.x ? 'triangle-right' : datum.x2 < datum.x ? 'triangle-left' : 'triangle-down'"}}}},
      {type: 'text', from: {data: 'arrows'}, encode: {enter: {x: {signal: "(scale('x', datum.x) + scale('x', datum.x2)) / 2"}, y: {scale: 'y', field: 'y', offset: -6}, align: {value: 'center'}, fontSize: {value: 11},
        text: {field: 'label'}, fill: {value: 'black'}, tooltip: {field: 'tip'}}}},
      {type: 'rect', from: {data: 'boxes'}, encode: {enter: {x: {scale: 'x', field: 'x'}, y: {scale: 'y', field: 'y'}, x2: {scale: 'x', signal: 'datum.x + datum.w'}, y2: {scale: 'y', signal: 'datum.y + datum.h'},
        fill: {signal: "datum.share == null ? '#E8E8E8' : scale('colour', datum.share)"}, stroke: {value: none}, cornerRadius: {value: 4}, tooltip: {field: 'tip'}}}},
      {type: 'text', from: {data: 'boxes'}, encode: {enter: {x: {scale: 'x', signal: 'datum.x + datum.w / 2'}, y: {scale: 'y', signal: 'datum.y + datum.h / 2', offset: -7}, align: {value: 'center'}, baseline: {value: 'middle'},
        fontSize: {value: 13}, fontWeight: {value: 'bold'}, text: {field: 'label'}, fill: {value: '#1a1a1a'}, tooltip: {field: 'tip'}}}},
      {type: 'text', from: {data: 'boxes'}, encode: {enter: {x: {scale: 'x', signal: 'datum.x + datum.w / 2'}, y: {scale: 'y', signal: 'datum.y + datum.h / 2', offset: 9}, align: {value: 'center'}, baseline: {value: 'middle'},
        fontSize: {value: 11}, text: {field: 'text'}, fill: {value: '#1a1a1a'}, tooltip: {field: 'tip'}}}},
    ],
  };
}

var kinds = {bars: bars, grouped: grouped, stacked: stacked, xy: xy, heat: heat, gantt: gantt, flow: flow};

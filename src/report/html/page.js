// What the page does beside showing: charts, tips, filters.
(function () {
  var dataflow = require('vega-dataflow');
  Object.assign(dataflow.transforms, require('vega-transforms'), require('vega-view-transforms'), require('vega-encode'));
  var parse = require('vega-parser').parse, View = require('vega-view').View;
  var config = {font: 'system-ui, sans-serif', axis: {labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal'}, legend: {labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal'}};
  var tip = document.getElementById('tip');
  var words = JSON.parse(document.getElementById('words').textContent);

  function show(content, box) {
    tip.textContent = '';
    (Array.isArray(content) ? content : String(content).split('\n')).forEach(function (line, i) {
      var p = document.createElement(i === 0 && Array.isArray(content) ? 'strong' : 'div');
      p.textContent = line;
      tip.appendChild(p);
    });
    tip.hidden = false;
    var left = Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8), below = box.bottom + 6;
    if (below + tip.offsetHeight > window.innerHeight) below = Math.max(4, box.top - tip.offsetHeight - 6);
    tip.style.left = Math.max(4, left) + 'px';
    tip.style.top = below + 'px';
  }
  function hide() { tip.hidden = true; }

  function draw(figure) {
    var chart = JSON.parse(figure.querySelector('script').textContent), target = figure.querySelector('.plot');
    var spec = kinds[chart.kind](chart);
    spec.$schema = 'https://vega.github.io/schema/vega/v5.json';
    // As wide as there is room, so that letters keep their size; paper and small windows scale it.
    spec.width = Math.max(340, Math.min(target.clientWidth, 860));
    spec.padding = 5;
    spec.autosize = {type: 'fit-x', contains: 'padding'};
    spec.description = chart.description;
    spec.config = config;
    var view = new View(parse(spec), {renderer: 'svg', container: target, hover: true});
    view.tooltip(function (handler, event, item, value) {
      if (value == null || value === '') hide();
      else show(value, {left: event.clientX + 12, top: event.clientY, bottom: event.clientY + 8});
    });
    return view.runAsync().then(function () {
      figure.dataset.drawn = 'yes';
      // A drawing is as wide as its page: it scales, and the screen reader has one picture with one description.
      var svg = target.querySelector('svg');
      svg.removeAttribute('width');
      svg.removeAttribute('height');
      svg.setAttribute('role', 'img');
      svg.setAttribute('aria-label', chart.title + '. ' + chart.description);
    });
  }

  window.simtlabDraw = draw;   // pages that change draw again

  // Numbers are explained where they are pointed at, or reached with the Tab key.
  function explain(event) {
    var m = event.target.closest ? event.target.closest('[data-m]') : null;
    if (!m) return;
    var word = words[m.dataset.m] || words[m.dataset.m.replace(/\.[^.]*$/, '.*')];
    if (!word) return;
    var lines = [m.dataset.m, word.doc];
    if (m.dataset.exact) lines.push('value: ' + m.dataset.exact + ' ' + (word.unit === '1' ? '' : word.unit));
    if (word.formula) lines.push('formula: ' + word.formula);
    if (word.aliases) lines.push('elsewhere: ' + word.aliases);
    show(lines, m.getBoundingClientRect());
  }
  document.addEventListener('mouseover', explain);
  document.addEventListener('focusin', explain);
  document.addEventListener('mouseout', function (event) { if (event.target.closest && event.target.closest('[data-m]')) hide(); });
  document.addEventListener('focusout', hide);
  document.addEventListener('keydown', function (event) { if (event.key === 'Escape') hide(); });

  // Filters: what does not contain the words is hidden; the count is read out.
  document.querySelectorAll('input[data-filter]').forEach(function (input) {
    var status = document.getElementById(input.getAttribute('aria-describedby'));
    function apply() {
      var wanted = input.value.trim().toLowerCase().split(/\s+/), shown = 0, all = 0;
      document.querySelectorAll(input.dataset.filter).forEach(function (item) {
        var text = (item.dataset.name || item.textContent).toLowerCase();
        var fits = wanted.every(function (w) { return text.indexOf(w) >= 0; });
        item.hidden = !fits;
        all += 1;
        shown += fits ? 1 : 0;
      });
      if (input.value.trim() !== '') document.querySelectorAll(input.dataset.filter).forEach(function (item) { var d = item.closest('details'); if (d) d.open = true; });
      status.textContent = input.value.trim() === '' ? '' : shown + ' of ' + all;
    }
    input.addEventListener('input', apply);
    input.addEventListener('change', apply);
    apply();
  });

  window.addEventListener('beforeprint', function () { document.querySelectorAll('details.data').forEach(function (d) { d.open = false; }); hide(); });

  // Charts are drawn one after the other, those that are hidden when they are chosen; each failure stays its own.
  var failures = [];
  function draw_shown() {
    delete document.documentElement.dataset.ready;
    var pending = Array.prototype.filter.call(document.querySelectorAll('figure.chart'), function (figure) { return !figure.dataset.drawn && !figure.closest('[hidden]'); });
    return pending.reduce(function (before, figure) {
      figure.dataset.drawn = 'soon';
      return before.then(function () { return draw(figure); }).catch(function (error) {
        failures.push(String(error));
        figure.dataset.drawn = 'no';
        figure.querySelector('.plot').textContent = 'This chart could not be drawn; its data are in the table below.';
        console.error(error);
      });
    }, Promise.resolve()).then(function () { document.documentElement.dataset.ready = failures.length ? 'failed' : 'yes'; });
  }

  // Boxes that choose among sections: an option's value is one of the words in their data-tags, the first in the list shows all.
  document.querySelectorAll('select[data-choose]').forEach(function (select) {
    var status = document.getElementById(select.getAttribute('aria-describedby'));
    function apply() {
      var shown = 0, all = 0;
      document.querySelectorAll(select.dataset.choose).forEach(function (item) {
        item.hidden = select.value !== '' && item.dataset.tags.split(' ').indexOf(select.value) < 0;
        all += 1;
        shown += item.hidden ? 0 : 1;
      });
      status.textContent = shown + ' of ' + all;
    }
    select.addEventListener('change', function () { apply(); draw_shown(); });
    apply();
  });
  draw_shown();
})();

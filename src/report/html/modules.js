// Debian ships Vega as its packages, one file each: this loads them in a page without a bundler.
var modules = {}, loaded = {};
function define(name, body) { modules[name] = body; }
function require(name) {
  if (!loaded[name]) {
    loaded[name] = {exports: {}};
    modules[name](require, loaded[name].exports, loaded[name]);
  }
  return loaded[name].exports;
}
// Maps are never drawn.
define('topojson-client', function () {});

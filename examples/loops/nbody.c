// Forces between all pairs of bodies: structures, a function of its own, a square root.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  float x, y, z, mass;
} Body;
typedef struct {
  float x, y, z;
} Force;

static Force add(Force f, Body a, Body b) {
  float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
  float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
  float s = b.mass / (d2 * sqrtf(d2));
  f.x += s * dx;
  f.y += s * dy;
  f.z += s * dz;
  return f;
}

void forces(Force *restrict out, const Body *restrict bodies, int n) {
#pragma simtlab kernel
  for (int i = 0; i < n; i++) {
    Force f = {0, 0, 0};
    for (int j = 0; j < n; j++) f = add(f, bodies[i], bodies[j]);
    out[i].x = f.x;
    out[i].y = f.y;
    out[i].z = f.z;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 512;
  Body *bodies = malloc(n * sizeof *bodies);
  Force *out = malloc(n * sizeof *out);
  for (int i = 0; i < n; i++) bodies[i] = (Body){(float)(i % 10), (float)(i / 10 % 10), (float)(i / 100), 1.0f};
  forces(out, bodies, n);
  printf("%g %g %g\n", out[3].x, out[3].y, out[3].z);
  free(bodies);
  free(out);
  return 0;
}

// What the three ladders share: the arguments, the time of a launch, the verdict.
#pragma once

#include "../example.h"

// The program's words: STEP [SIZE [WARM-UPS]].
struct Arguments {
  int step;
  int size;
  int warm_ups;  // launches before the one that is timed
};

// What a ladder takes: its steps, and sizes that are multiples of one number.
struct Ladder {
  const char* name;
  int first_step, last_step;
  int usual_size;
  int multiple, most;
};

inline Arguments ladder_arguments(int argc, char** argv, const Ladder& ladder) {
  Arguments arguments{-1, ladder.usual_size, 0};
  if (argc > 1) arguments.step = std::atoi(argv[1]);
  if (argc > 2) arguments.size = std::atoi(argv[2]);
  if (argc > 3) arguments.warm_ups = std::atoi(argv[3]);
  const bool known = arguments.step >= ladder.first_step && arguments.step <= ladder.last_step;
  const bool fits =
      arguments.size > 0 && arguments.size <= ladder.most && arguments.size % ladder.multiple == 0;
  if (!known || !fits || arguments.warm_ups < 0 || argc > 4) {
    std::fprintf(stderr,
                 "usage: %s STEP [SIZE [WARM-UPS]]\n"
                 "  STEP  from %d to %d\n  SIZE  a multiple of %d up to %d (%d)\n  WARM-UPS  launches before "
                 "the timed one (0)\n",
                 ladder.name, ladder.first_step, ladder.last_step, ladder.multiple, ladder.most,
                 ladder.usual_size);
    std::exit(2);
  }
  return arguments;
}

// Milliseconds that a launch takes, between two events.
template <class Launch>
float milliseconds_of(Launch launch) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  launch();
  CHECK(cudaEventRecord(end));
  CHECK(cudaGetLastError());
  CHECK(cudaEventSynchronize(end));
  float time = 0.0f;
  CHECK(cudaEventElapsedTime(&time, begin, end));
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return time;
}

// Prints time and rate of a step. amount: floating-point operations or bytes.
inline void print_rate(const Ladder& ladder, const Arguments& arguments, const char* kernel,
                       float milliseconds, double amount, const char* unit) {
  std::printf("%s step %d, %s, size %d: %.3f us, %.1f %s\n", ladder.name, arguments.step, kernel,
              arguments.size, milliseconds * 1e3, amount / (milliseconds * 1e6), unit);
}

#pragma once
#error "simtlab does not support the WMMA interface (mma.h): matrix instructions cannot be simulated yet"

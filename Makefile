# The front door: each verb is one CMake preset. Everything real is in CMakeLists.txt.
T ?=
build:
	@[ -f build/dev/build.ninja ] || cmake --preset dev > /dev/null
	@cmake --build --preset dev
.PHONY: build

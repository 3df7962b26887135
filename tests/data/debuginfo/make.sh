#!/bin/sh
# Makes the objects of this folder and of fuzz/corpus/debuginfo: gcc 12, clang 14, dwz 0.15, binutils
# 2.40. The tests read what is in the repository; nothing runs this for them.
# shellcheck disable=SC2086 # $flags and $link are several words
set -e
cd "$(dirname "$0")"
corpus=../../../fuzz/corpus/debuginfo
flags="-O2 -nostdlib -fPIC -fcf-protection=none -fdebug-prefix-map=$PWD=/src"
link="-shared -nostdlib -Wl,--build-id=sha1 -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096"
for compiler in gcc clang; do
    for version in 2 4 5; do
        $compiler $flags -gdwarf-$version -c small.c -o small.o
        $compiler $link small.o -o $corpus/${compiler}_dwarf$version
    done
    for version in 4 5; do
        name=split_${compiler}$version
        $compiler $flags -gdwarf-$version -gsplit-dwarf -c small.c -o $name.o
        $compiler $link $name.o -o $name.so
        rm $name.o
    done
done
for version in 4 5; do
    g++ $flags -gdwarf-$version -c names.cpp -o names.o
    g++ $link names.o -o $corpus/names_dwarf$version
done
objcopy --compress-debug-sections=zlib $corpus/gcc_dwarf5 $corpus/packed_zlib
objcopy --compress-debug-sections=zlib-gnu $corpus/gcc_dwarf5 $corpus/packed_gnu
objcopy --only-keep-debug $corpus/gcc_dwarf5 small.debug
objcopy --strip-debug --add-gnu-debuglink=small.debug $corpus/gcc_dwarf5 $corpus/debuglink
# Units that each keep of their own what they share is what dwz works on.
for part in a b; do
    gcc $flags -gdwarf-5 -g3 -DPART=$part -c shared.c -o shared.o
    gcc $link shared.o -o dwz_$part.so
done
dwz -m shared.debug -M ../shared.debug dwz_a.so dwz_b.so
rm small.o shared.o names.o
chmod 644 ./*.so ./*.debug $corpus/*

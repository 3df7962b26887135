#!/bin/sh
# Makes the PDBs of fuzz/corpus/clr_pdb with the compiler of .NET SDK 10.0.401. The tests read what is
# in the repository; nothing runs this for them.
set -e
cd "$(dirname "$0")"
corpus=../../../fuzz/corpus/clr_pdb
root=$(dirname "$(readlink -f "$(command -v dotnet)")")
framework=$(echo "$root"/shared/Microsoft.NETCore.App/10.*)
compile() {
    dotnet "$root"/sdk/10.*/Roslyn/bincore/csc.dll -nologo -noconfig -nostdlib -deterministic -pathmap:"$PWD"=/src \
        -r:"$framework"/System.Private.CoreLib.dll -r:"$framework"/System.Runtime.dll "$@" Demo.cs
}
mkdir -p $corpus
compile -debug:portable -pdb:$corpus/portable -out:demo.dll
compile -optimize -debug:portable -embed -pdb:$corpus/sources -out:demo.dll
compile -debug:embedded -embed -out:demo.dll
python3 -c '
import struct
image = open("demo.dll", "rb").read()
at = image.index(b"MPDB")
directory = image.rindex(struct.pack("<I", at), 0, at) - 8 # its entry: size, address, offset
size, = struct.unpack_from("<I", image, directory)
open("'$corpus'/embedded", "wb").write(image[at:at + size])'
rm demo.dll

// What System.Reflection.Metadata reads in portable PDBs: Points FILE...
// FILE is a PDB, or an assembly with one in it.
using System;
using System.IO;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.IO.Compression;
using System.Text;

static class Points
{
    static readonly Guid EmbeddedSource = new Guid("0E8A571B-6926-466E-B4AD-8AB04611F5FE");

    static byte[] Inflate(byte[] blob)
    {
        int size = BitConverter.ToInt32(blob, 0);
        if (size == 0)
            return blob.AsSpan(4).ToArray();
        var text = new MemoryStream();
        using var deflate = new DeflateStream(new MemoryStream(blob, 4, blob.Length - 4), CompressionMode.Decompress);
        deflate.CopyTo(text);
        return text.ToArray();
    }

    static uint Sum(byte[] text)
    {
        uint sum = 2166136261;
        foreach (byte b in text)
            sum = (sum ^ b) * 16777619;
        return sum;
    }

    static void Print(MetadataReader reader, TextWriter output)
    {
        output.WriteLine($"id {Convert.ToHexString(reader.DebugMetadataHeader.Id.AsSpan()).ToLowerInvariant()}");
        foreach (var handle in reader.Documents)
        {
            int row = MetadataTokens.GetRowNumber(handle);
            output.WriteLine($"document {row} {reader.GetString(reader.GetDocument(handle).Name)}");
            foreach (var custom in reader.GetCustomDebugInformation(handle))
            {
                var information = reader.GetCustomDebugInformation(custom);
                if (reader.GetGuid(information.Kind) == EmbeddedSource)
                {
                    byte[] text = Inflate(reader.GetBlobBytes(information.Value));
                    output.WriteLine($"source {row} {text.Length} {Sum(text):x8}");
                }
            }
        }
        foreach (var handle in reader.MethodDebugInformation)
        {
            var method = reader.GetMethodDebugInformation(handle);
            int token = MetadataTokens.GetToken(handle.ToDefinitionHandle());
            foreach (var point in method.GetSequencePoints())
            {
                string place = point.IsHidden ? "0:0-0:0"
                    : $"{point.StartLine}:{point.StartColumn}-{point.EndLine}:{point.EndColumn}";
                output.WriteLine($"{token:x8} {point.Offset} {MetadataTokens.GetRowNumber(point.Document)} {place}");
            }
            var kickoff = method.GetStateMachineKickoffMethod();
            if (!kickoff.IsNil)
                output.WriteLine($"{token:x8} kickoff {MetadataTokens.GetToken(kickoff):x8}");
        }
    }

    static MetadataReaderProvider Open(string path)
    {
        byte[] bytes = File.ReadAllBytes(path);
        if (bytes[0] == 'B')
            return MetadataReaderProvider.FromPortablePdbStream(new MemoryStream(bytes));
        var image = new PEReader(new MemoryStream(bytes));
        foreach (var entry in image.ReadDebugDirectory())
            if (entry.Type == DebugDirectoryEntryType.EmbeddedPortablePdb)
                return image.ReadEmbeddedPortablePdbDebugDirectoryData(entry);
        throw new InvalidDataException($"{path} has no portable PDB");
    }

    static void Main(string[] paths)
    {
        using var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false));
        foreach (string path in paths)
        {
            output.WriteLine($"file {path}");
            Print(Open(path).GetMetadataReader(), output);
        }
    }
}

// Methods list FILE: token, name and number of parameters of each method of an assembly, by a reader of
// metadata that is the framework's own. Methods busy SECONDS: runs what the framework has compiled ahead.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

public static class Methods
{
    static string NameOf(MetadataReader reader, TypeDefinitionHandle handle)
    {
        TypeDefinition type = reader.GetTypeDefinition(handle);
        string name = reader.GetString(type.Name);
        TypeDefinitionHandle around = type.GetDeclaringType();
        if (!around.IsNil)
            return NameOf(reader, around) + "+" + name;
        string space = reader.GetString(type.Namespace);
        return space.Length == 0 ? name : space + "." + name;
    }

    static int CountParameters(MetadataReader reader, MethodDefinition method)
    {
        BlobReader blob = reader.GetBlobReader(method.Signature);
        if (blob.ReadSignatureHeader().IsGeneric)
            blob.ReadCompressedInteger();
        return blob.ReadCompressedInteger();
    }

    static void List(string path)
    {
        using var file = new PEReader(File.OpenRead(path));
        MetadataReader reader = file.GetMetadataReader();
        var text = new StringBuilder();
        foreach (MethodDefinitionHandle handle in reader.MethodDefinitions)
        {
            MethodDefinition method = reader.GetMethodDefinition(handle);
            text.Append(MetadataTokens.GetToken(handle).ToString("x8", CultureInfo.InvariantCulture))
                .Append('\t').Append(NameOf(reader, method.GetDeclaringType()))
                .Append('\t').Append(reader.GetString(method.Name))
                .Append('\t').Append(CountParameters(reader, method)).Append('\n');
        }
        using Stream output = Console.OpenStandardOutput();
        output.Write(Encoding.UTF8.GetBytes(text.ToString()));
    }

    static double Spent() => Process.GetCurrentProcess().TotalProcessorTime.TotalSeconds;

    record Item(string Name, int Number, double[] Values);

    static long Work(Random random)
    {
        List<Item> items = Enumerable.Range(0, 300)
            .Select(i => new Item("n" + random.Next(), i, new[] { random.NextDouble(), 1.5 })).ToList();
        string json = JsonSerializer.Serialize(items);
        List<Item> back = JsonSerializer.Deserialize<List<Item>>(json);
        var sorted = new SortedDictionary<string, Item>(StringComparer.Ordinal);
        foreach (Item item in back)
            sorted[item.Name] = item;
        var text = new StringBuilder();
        foreach (Item item in sorted.Values.OrderByDescending(item => item.Values[0]))
            text.AppendFormat(CultureInfo.InvariantCulture, "{0}:{1:F3} ", item.Name, item.Values[0]);
        return Regex.Matches(json, "n[0-9]{3,}").Count + text.ToString().Split(' ').Length;
    }

    public static int Main(string[] arguments)
    {
        if (arguments[0] == "list")
        {
            List(arguments[1]);
            return 0;
        }
        double seconds = double.Parse(arguments[1], CultureInfo.InvariantCulture);
        var random = new Random(1);
        long sum = 0;
        // Of the processor, not of the clock: on a busy machine there are to be as many samples.
        for (double start = Spent(); Spent() - start < seconds;)
            sum += Work(random);
        Console.WriteLine(sum);
        return 0;
    }
}

// Calls from many places, each told with the line that the PDB has for it: Sites LOG SECONDS
// The IL is the runtime's word (StackFrame, for the very version of the code that runs), the line that of
// System.Reflection.Metadata. live/clr_lines_test.py puts methods in where it is marked.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

static class Truth
{
    static readonly Dictionary<(IntPtr, int), (string, int, int, int)> Seen = new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Spin(int n)
    {
        Note();
        int x = n;
        for (int i = 0; i < 60000; i++)
            x = (x * 31 + i) % 1000003;
        return x & 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Note()
    {
        var trace = new StackTrace(2, false);
        for (int i = 0; i < trace.FrameCount; i++)
        {
            StackFrame frame = trace.GetFrame(i);
            var method = frame.GetMethod();
            if (method == null || method.Module != typeof(Truth).Module)
                continue;
            var key = (method.MethodHandle.Value, frame.GetNativeOffset());
            if (!Seen.ContainsKey(key))
            {
                int line = new StackTrace(2, true).GetFrame(i).GetFileLineNumber();
                Seen[key] = (method.Name, method.MetadataToken, frame.GetILOffset(), line);
            }
        }
    }

    // 0 where the place is the compiler's own; the runtime would tell the line before.
    static int LineOf(MetadataReader reader, int token, int offset)
    {
        var handle = ((MethodDefinitionHandle)MetadataTokens.Handle(token)).ToDebugInformationHandle();
        int line = 0;
        foreach (var point in reader.GetMethodDebugInformation(handle).GetSequencePoints())
        {
            if (point.Offset > offset)
                break;
            line = point.IsHidden ? 0 : point.StartLine;
        }
        return line;
    }

    public static void Write(string path)
    {
        string symbols = Path.ChangeExtension(typeof(Truth).Assembly.Location, ".pdb");
        using var provider = MetadataReaderProvider.FromPortablePdbStream(File.OpenRead(symbols));
        var reader = provider.GetMetadataReader();
        using var output = new StreamWriter(path);
        foreach (var ((_, native), (name, token, il, line)) in Seen)
            output.WriteLine($"{name}\t{native}\t{il}\t{LineOf(reader, token, il)}\t{line}");
    }
}

static class Sites
{
    static async Task<int> Wait(int n)
    {
        int x = Truth.Spin(n);
        await Task.Yield();
        x += Truth.Spin(n + 1);
        x += await Task.FromResult(
            Truth.Spin(n + 2));
        return x;
    }

    static IEnumerable<int> Iterate(int n)
    {
        for (int i = 0; i < n; i++)
        {
            int x = Truth.Spin(i);
            yield return x;
            Truth.Spin(x);
        }
    }

    sealed class Held : IDisposable
    {
        public void Dispose() => Truth.Spin(1);
    }

    static int Shapes(int n)
    {
        int x = 0;
        foreach (int i in Iterate(3))
            x += i;
        using (new Held())
            x += Truth.Spin(x);
        try
        {
            if (n > 0)
                throw new InvalidOperationException();
        }
        catch (InvalidOperationException) when (Truth.Spin(n) < 2)
        {
            x += Truth.Spin(n);
        }
        finally
        {
            x += Truth.Spin(x);
        }
        Func<int, int> lambda = y =>
            y + Truth.Spin(y);
        int Local(int y)
        {
            return Truth.Spin(y) + lambda(y);
        }
        x += Local(n);
        x += new[] { 1, 2 }.Select(y => Truth.Spin(y))
            .Where(y => Truth.Spin(y) >= 0)
            .Sum();
        x += n switch
        {
            0 => Truth.Spin(0),
            1 => Truth.Spin(1),
            _ => Truth.Spin(2),
        };
        return x;
    }

    static int Generic<T>(T value)
    {
        int x = Truth.Spin(value.GetHashCode());
        return x + Truth.Spin(
            x);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static int Inlined(int n)
    {
        int x = Truth.Spin(n);
        return x + Truth.Spin(n + 1);
    }

    //SITES//

    static int Main(string[] arguments)
    {
        double seconds = double.Parse(arguments[1]);
        int x = 0;
        // Of the processor, not of the clock: on a busy machine there are to be as many samples.
        while (Process.GetCurrentProcess().TotalProcessorTime.TotalSeconds < seconds)
        {
            x += All(x);
            x += Shapes(x & 3);
            x += Wait(x).Result;
            x += Generic(x);
            x += Generic("text");
        }
        Truth.Write(arguments[0]);
        return x < 0 ? 1 : 0;
    }
}

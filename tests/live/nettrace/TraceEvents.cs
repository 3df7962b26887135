// Prints what TraceEvent reads in a stream of events, as nettrace_dump does.
using System;
using System.IO;
using System.Text;
using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Parsers;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

static class Program
{
    static readonly StreamWriter Out = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false), 1 << 16);

    static void Method(string kind, string rundown, MethodLoadUnloadVerboseTraceData e)
    {
        Out.WriteLine($"{rundown}{kind}\t{e.MethodID:x}\t{e.ModuleID:x}\t{e.MethodStartAddress:x}\t{e.MethodSize:x}\t{e.MethodToken:x}\t{(int)e.MethodFlags:x}\t{e.OptimizationTier}\t{(e.Version >= 2 ? e.ReJITID : 0):x}"
            + $"\t{e.MethodNamespace}\t{e.MethodName}\t{e.MethodSignature}");
    }

    static void Map(string rundown, MethodILToNativeMapTraceData e)
    {
        var text = new StringBuilder();
        for (int i = 0; i < e.CountOfMapEntries; i++)
            text.Append(i > 0 ? " " : "").Append(e.ILOffset(i)).Append(':').Append(e.NativeOffset(i).ToString("x"));
        Out.WriteLine($"{rundown}map\t{e.MethodID:x}\t{e.ReJITID:x}\t{e.CountOfMapEntries}\t{text}");
    }

    static void Module(string rundown, bool unload, ModuleLoadUnloadTraceData e)
    {
        Out.WriteLine($"{rundown}module\t{e.ModuleID:x}\t{(unload ? 1 : 0)}\t{e.ManagedPdbAge}\t{Convert.ToHexString(e.ManagedPdbSignature.ToByteArray()).ToLowerInvariant()}\t{e.ModuleILPath}\t{e.ManagedPdbBuildPath}");
    }

    static int Main(string[] args)
    {
        using var source = new EventPipeEventSource(args[0]);
        source.AllEvents += e => Out.WriteLine($"event\t{e.ProviderName}\t{(int)e.ID}\t{e.Version}\t{e.ThreadID}\t{e.EventDataLength}");
        source.Clr.MethodLoadVerbose += e => Method("method", "", e);
        source.Clr.MethodUnloadVerbose += e => Method("unload", "", e);
        source.Clr.MethodILToNativeMap += e => Map("", e);
        source.Clr.LoaderModuleLoad += e => Module("", false, e);
        source.Clr.LoaderModuleUnload += e => Module("", true, e);
        source.Clr.MethodMethodDetails += e => Out.WriteLine($"details\t{e.MethodID:x}\t{e.TypeID:x}\t{e.LoaderModuleID:x}\t{e.MethodToken:x}\t{e.TypeParameterCount}");
        source.Clr.TypeBulkType += e =>
        {
            var text = new StringBuilder();
            for (int i = 0; i < e.Count; i++)
            {
                var t = e.Values(i);
                text.Append($"{t.TypeID:x}/{t.ModuleID:x}/{(uint)t.TypeNameID:x}/{t.TypeParameterCount}/{t.TypeName} ");
            }
            Out.WriteLine($"types\t{e.Count}\t{text}");
        };
        var rundown = new ClrRundownTraceEventParser(source);
        rundown.MethodDCStopVerbose += e => Method("method", "rundown ", e);
        rundown.MethodILToNativeMapDCStop += e => Map("rundown ", e);
        rundown.LoaderModuleDCStop += e => Module("rundown ", false, e);
        source.Process();
        Out.WriteLine($"lost\t{source.EventsLost}");
        Out.Flush();
        return 0;
    }
}

// .NET: works in Old until it reads "new", then in New as well; "path" makes it say where its dumps go.
using System;
using System.Threading;

public static class Server
{
    static volatile bool isNew, isOver;

    static int Old(int n) { int x = 1; for (int i = 0; i < 6 * n; i++) x = (x * 31 + i) % 1000003; return x; }
    static int New(int n) { int x = 1; for (int i = 0; i < 6 * n; i++) x = (x * 37 + i) % 1000003; return x; }

    static void Listen()
    {
        string line;
        while ((line = Console.ReadLine()) != null)
        {
            if (line == "new") isNew = true;
            if (line == "path") Console.WriteLine("path {0}.", Environment.GetEnvironmentVariable("DOTNET_PerfMapJitDumpPath"));
        }
        isOver = true;
    }

    public static int Main()
    {
        long sum = 0;
        new Thread(Listen) { IsBackground = true }.Start();
        Console.WriteLine("ready");
        while (!isOver)
        {
            sum += Old(20000);
            if (isNew) sum += New(20000);
        }
        return sum == 0 ? 1 : 0;
    }
}

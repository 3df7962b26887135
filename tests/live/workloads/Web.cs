// A minimal server: prints where it listens, ends with SIGTERM.
var builder = WebApplication.CreateBuilder(args);
builder.Logging.ClearProviders();
builder.WebHost.UseUrls("http://127.0.0.1:0");
var app = builder.Build();
app.MapGet("/", () => "hello");
app.MapGet("/squares/{count:int}", (int count) => new Answer(count, Squares(count)));
app.MapPost("/turned", async (HttpRequest request) => {
    using var reader = new StreamReader(request.Body);
    var words = (await reader.ReadToEndAsync()).Split(' ');
    return string.Join(' ', words.Select(word => new string(word.Reverse().ToArray())));
});
app.Lifetime.ApplicationStarted.Register(() => Console.WriteLine(app.Urls.First()));
app.Run();

static List<long> Squares(int count) =>
    Enumerable.Range(0, count).Select(i => (long)i * i).Where(square => square % 3 != 0).ToList();

record Answer(int Count, List<long> Squares);

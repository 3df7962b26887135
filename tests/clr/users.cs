namespace Users
{
    public enum Kind : byte { None, Some }

    public static class Program
    {
        static string Choose(Shapes.Outer.Inner<Kind> inner, Kind kind, params string[] names)
        {
            try { return names[(int)inner.Keep(kind, null, null)]; }
            catch (System.IndexOutOfRangeException e) { return e.Message; }
        }

        public static int Main()
        {
            var pair = new Shapes.Pair<Kind, string>();
            string second = "";
            return (int)pair.Swap(ref second) + Shapes.Outer.Use() + Shapes.Outer.Pick(true, Kind.Some, Kind.None).GetHashCode() +
                   Choose(new Shapes.Outer.Inner<Kind>(), Kind.None, "none", "some").Length;
        }
    }
}

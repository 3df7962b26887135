namespace Shapes
{
    public struct Pair<A, B>
    {
        public A First;
        public B Second;
        public A Swap(ref B second) { Second = second; return First; }
    }

    public class Outer
    {
        public class Inner<T>
        {
            public T Keep(T value, T[,] grid, int[] row) { return row == null ? grid[0, 0] : value; }
        }

        public static unsafe int Pointers(byte* at, void** table, delegate*<int, string> f) { return *at; }

        public static int Guarded(int[] row, int index)
        {
            try { return row[index]; }
            catch (System.IndexOutOfRangeException) { return -1; }
            finally { Count++; }
        }

        public static T Pick<T>(bool first, T a, T b) { return first ? a : b; }

        public static long Count;

        public static int Use()
        {
            var inner = new Inner<int>();
            var other = new Inner<string>();
            var pair = new Pair<long, Outer>();
            Outer none = null;
            return inner.Keep(1, null, new int[2]) + other.Keep("", null, new int[1]).Length + (int)pair.Swap(ref none) +
                   Pick(true, 1, 2) + Pick(false, "a", "b").Length;
        }
    }
}

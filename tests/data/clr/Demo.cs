// What a portable PDB tells apart: the tests know these lines by their numbers.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

public static class Demo
{
    public static int Twice(int n)
    {
        return n * 2;
    }

    public static int Sum(int[] numbers)
    {
        int sum = 0;
        foreach (int number in numbers) // hidden points between the parts of the loop
        {
            sum += number;
        }
        return sum;
    }

    public static int Several(int n)
    {
        n += 1;
#line 100 "other.cs"
        n += 2;
#line 7 "third.cs"
        n += 3;
#line default
        return n;
    }

    public static async Task<int> Later(int n)
    {
        await Task.Delay(1);
        return n + 1;
    }

    public static IEnumerable<int> Count(int n)
    {
        for (int i = 0; i < n; i++)
            yield return i;
    }

    public static int Main()
    {
        Func<int, int> square = x => x * x;
        int Local(int x) => x + 1;
        int total = 0;
        foreach (int i in Count(3))
            total += square(Local(Twice(i)));
        return total + Sum(new[] { 1, 2 }) + Several(0) + Later(0).Result > 0 ? 0 : 1;
    }
}

public abstract class Shape
{
    public abstract double Area(); // no lines
}

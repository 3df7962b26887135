/* A call with one kind of receiver, then with two, then with three: HotSpot gives its code up each time. Falls SECONDS */
public class Falls {
	interface Shape { int area(int i); }
	static class Line implements Shape { public int area(int i) { return i * 3 + 1; } }
	static class Square implements Shape { public int area(int i) { return i * 5 - 1; } }
	static class Circle implements Shape { public int area(int i) { return i ^ 77; } }

	static int total(Shape shape, int count) {
		int sum = 0;
		for (int i = 0; i < count; i++)
			sum += shape.area(i);
		return sum;
	}

	static long spent() {
		return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis();
	}

	static int spin(long milliseconds, Shape... shapes) {
		final long end = spent() + milliseconds;
		int sum = 0;
		while (spent() < end)
			for (int i = 0; i < 3000; i++)
				sum += total(shapes[i % shapes.length], 500);
		return sum;
	}

	public static void main(String[] arguments) {
		final long each = Long.parseLong(arguments[0]) * 1000 / 3;
		int sum = spin(each, new Line());
		sum += spin(each, new Line(), new Square());
		sum += spin(each, new Line(), new Square(), new Circle());
		System.out.println(sum);
	}
}

// Demo.cs sends one of its lines here, and another to third.cs: a method may come from several files.

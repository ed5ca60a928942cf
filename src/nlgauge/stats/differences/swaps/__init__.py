"""Two metrics trade scores many times over: what each kind of coefficient becomes, without the plain loop."""

function total(values: number[]): number {
  return values.reduce((left, right) => left + right, 0);
}
const done: string = total([1, 2]) === 3 ? "done" : "wrong";
console.log(done);

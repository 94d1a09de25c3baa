/** An activity that this worker had before. */
export async function placeOrder(article: string, pieces: number): Promise<string> {
  return `order of ${pieces} x ${article} is placed`
}

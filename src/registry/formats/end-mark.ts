/** The mark with which some publishers end a text file (0x1A): a file without it may be truncated, even after a complete line. */
import { onLine, refuseSource } from './fault.ts'

export const END_MARK = '\x1a'

/** Yields the text, and refuses it at the end when the mark is missing; line ends after the mark are ignored. */
export async function* requireEndMark(
  text: AsyncIterable<string>,
  { file, advice }: { readonly file?: string | undefined; readonly advice: string },
): AsyncGenerator<string, void, undefined> {
  let last = ''
  let line = 1
  for await (const piece of text) {
    const visible = piece.replace(/[\r\n]+$/, '')
    if (visible !== '') last = visible.charAt(visible.length - 1)
    for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', at + 1)) line++
    yield piece
  }
  if (last === END_MARK) return
  const what = file === undefined ? 'The file' : `"${file}"`
  const message = `${what} ends in line ${line} without the publisher's end mark (0x1A): it may be cut off. Download it again${advice}.`
  refuseSource('truncated', message, file === undefined ? onLine(line) : { ...onLine(line), file })
}

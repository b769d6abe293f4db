/** COPY … FROM STDIN from a stream: the fastest way into a temporary table. Used by tx.ts only. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from } from 'pg-copy-streams'

export async function copyIn(client: pg.ClientBase, text: string, source: AsyncIterable<Uint8Array>): Promise<number> {
  const target = client.query(from(text))
  await pipeline(Readable.from(source, { objectMode: false, highWaterMark: 1024 * 1024 }), target)
  return target.rowCount
}

/** All engines by number. None is ever removed, since old decisions are replayed with their engine. */
import { engine1 } from './engine-1/engine.ts'
import type { Engine } from './model.ts'

export const CURRENT_ENGINE = 1

export const engines: ReadonlyMap<number, Engine> = new Map([[engine1.engine, engine1]])

export function getEngine(engine: number): Engine {
  const found = engines.get(engine)
  if (!found) throw new RangeError(`There is no engine ${engine}`)
  return found
}

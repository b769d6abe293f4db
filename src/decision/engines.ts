/** All engines by number. None is ever removed, since old decisions are replayed with their engine. */
import { engine1 } from './engine-1/engine.ts'
import { engine2 } from './engine-2/engine.ts'
import type { CompiledDefinition, Definition, DefinitionFamily, Engine, Finding } from './model.ts'

export const engines: ReadonlyMap<number, Engine> = new Map([engine1, engine2].map((one) => [one.engine, one]))

export function getEngine(engine: number): Engine {
  const found = engines.get(engine)
  if (!found) throw new RangeError(`There is no engine ${engine}`)
  return found
}

/** The engine of new decisions: the earliest one that knows every form of factor in the definition. */
export const chooseEngine = (definition: Definition): number =>
  definition.family === 'matrix' && definition.factors.some(({ form }) => form === 'plugin')
    ? engine2.engine
    : engine1.engine

/** Checks a definition for new decisions. Engine 2 accepts what engine 1 accepts, and knows plugin factors. */
export const checkNewDefinition = (definition: unknown, family: DefinitionFamily): Finding[] =>
  engine2.check(definition, family)

/** Compiles a definition that has passed its check, by the given engine or by the one of new decisions. */
export const compileDefinition = (definition: Definition, engine = chooseEngine(definition)): CompiledDefinition =>
  getEngine(engine).compile(definition)

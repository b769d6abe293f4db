/**
 * Engine 2: engine 1 with factors that a plugin scores. It decides definitions without such a factor exactly like engine 1, which
 * keeps deciding them. Its decisions are replayed with it, so its semantics never change.
 */
import { createEngine } from '../engine-1/engine.ts'
import { pluginForm } from './plugin-factor.ts'

export const engine2 = createEngine(2, pluginForm)

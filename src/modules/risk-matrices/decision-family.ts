/** Families of definitions that an engine decides on. */
import type { DefinitionFamily } from '#decision/model.ts'

export const isDecisionFamily = (family: string): family is DefinitionFamily => family === 'matrix' || family === 'rule'

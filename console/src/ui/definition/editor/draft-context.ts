/** What every part of a draft may need to know: the inputs it asks for, the bands it reaches, and how to try a counter-example. */
import { createContext, useContext } from 'react'
import type { Bands, Input } from '#console/ui/decision/definition-model.ts'

export type Example = Readonly<Record<string, unknown>>

interface DraftContextValue {
  readonly inputs: readonly Input[]
  readonly bands: Bands | undefined
  readonly onTry: (inputs: Example) => void
}

export const DraftContext = createContext<DraftContextValue>({ inputs: [], bands: undefined, onTry: () => undefined })
export const useDraftContext = (): DraftContextValue => useContext(DraftContext)

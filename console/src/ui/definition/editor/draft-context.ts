/** Context for the parts of a draft: inputs, bands, and a callback that simulates example inputs. */
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

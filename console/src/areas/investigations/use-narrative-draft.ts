/** The narrative while somebody writes it. It is kept while another tab is open, and is never stored in the browser. */
import { isProblem } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type Investigation, type Narrative, narrativeQuery, type Paragraph } from './investigation-queries.ts'

export interface DraftParagraph extends Paragraph {
  /** Stays the same while paragraphs are added and removed. */
  readonly key: number
}

export interface NarrativeDraft {
  /** Undefined while it is loaded, and where it was erased. */
  readonly stored: Narrative | undefined
  /** Its subject was erased, and the text with it. */
  readonly isErased: boolean
  readonly paragraphs: readonly DraftParagraph[]
  readonly isChanged: boolean
  /** The version that the draft began with. */
  readonly base_version: number
  set(paragraphs: readonly DraftParagraph[]): void
  /** What was sent is the stored version now. What was typed since then is kept, as a change of that version. */
  markSaved(sent: readonly DraftParagraph[], stored: Narrative): void
  /** Shows the stored version again. */
  reset(): void
}

let nextKey = 1
export const createParagraph = (paragraph: Paragraph = { kind: 'fact', text: '', cites: [] }): DraftParagraph => ({
  ...paragraph,
  key: nextKey++,
})

export const isFactWithoutEvidence = ({ kind, cites }: Paragraph): boolean => kind === 'fact' && cites.length === 0

/** Such as "Conclusion:". The outcome cannot be proposed while there is one. */
export const isOnlyLabel = ({ text }: Paragraph): boolean => /^[^.!?:\n]{1,40}:$/.test(text.trim())

/** Empty paragraphs are not stored. */
export const toStored = (paragraphs: readonly DraftParagraph[]): readonly DraftParagraph[] =>
  paragraphs.filter(({ text }) => text.trim() !== '').map((one) => ({ ...one, text: one.text.trim() }))

const isErased = (error: unknown): boolean => isProblem(error) && error.code === 'erased'

interface Changed {
  readonly base_version: number
  readonly paragraphs: readonly DraftParagraph[]
}

export function useNarrativeDraft({ investigation_id }: Investigation): NarrativeDraft {
  const { data: stored, error } = useQuery({
    ...narrativeQuery(investigation_id),
    // The case stays readable when its narrative was erased.
    throwOnError: (failure) => !isErased(failure),
  })
  const [changed, setChanged] = useState<Changed | null>(null)
  const [shown, setShown] = useState<{ readonly of: Narrative; readonly paragraphs: readonly DraftParagraph[] }>()
  if (stored !== undefined && shown?.of !== stored)
    setShown({ of: stored, paragraphs: stored.paragraphs.map(createParagraph) })
  const isChanged = changed !== null
  useEffect(() => {
    if (!isChanged) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isChanged])
  const base_version = changed?.base_version ?? stored?.version ?? 0
  return {
    stored,
    isErased: isErased(error),
    paragraphs: changed?.paragraphs ?? shown?.paragraphs ?? [],
    isChanged,
    base_version,
    set: (paragraphs) => setChanged({ base_version, paragraphs }),
    markSaved: (sent, saved) => {
      // The paragraphs keep their keys, and with them the focus.
      setShown({ of: saved, paragraphs: toStored(sent) })
      setChanged((now) =>
        now === null || now.paragraphs === sent ? null : { base_version: saved.version, paragraphs: now.paragraphs },
      )
    },
    reset: () => setChanged(null),
  }
}

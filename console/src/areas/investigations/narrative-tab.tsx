/** The narrative: facts that cite evidence, and assessments. Written in place while the case is open. */
import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { toParagraphElement } from './case-pointers.ts'
import {
  type Investigation,
  isOpen,
  type MissingGuard,
  type NumberedEvidence,
  narrativeQuery,
  touched,
  useEvidence,
} from './investigation-queries.ts'
import { NarrativeVersions } from './narrative-versions.tsx'
import { ParagraphEditor, ParagraphView } from './paragraph.tsx'
import { createParagraph, type DraftParagraph, type NarrativeDraft, toStored } from './use-narrative-draft.ts'

interface NarrativeTabProps {
  readonly investigation: Investigation
  readonly draft: NarrativeDraft
}

export function NarrativeTab({ investigation, draft }: NarrativeTabProps) {
  const may = usePermission()
  const evidence = useEvidence(investigation.investigation_id)
  const { stored, isErased } = draft
  if (isErased)
    return (
      <div id="narrative" tabIndex={-1}>
        <EmptyState
          title="The narrative was erased"
          about="Its subject was erased, and what was written about it. The case, its outcome and its record stay."
        />
      </div>
    )
  if (stored === undefined || evidence === undefined) return <ListSkeleton />
  const canWrite = isOpen(investigation) && may('updateInvestigationNarrative')
  const getFindings = (place: number): readonly MissingGuard[] =>
    draft.isChanged
      ? []
      : stored.findings.filter(({ pointer }) => `${pointer}/`.startsWith(`#/narrative/paragraphs/${place}/`))
  return (
    <Stack gap="sm" id="narrative" tabIndex={-1}>
      <NarrativeVersion draft={draft} investigation={investigation} evidence={evidence} />
      {canWrite ? (
        <NarrativeEditor {...{ investigation, draft, evidence, getFindings }} />
      ) : (
        stored.paragraphs.map((paragraph, place) => (
          <ParagraphView key={place} {...{ paragraph, place, evidence }} findings={getFindings(place)} />
        ))
      )}
      {!canWrite && stored.paragraphs.length === 0 && (
        <EmptyState
          title="No narrative yet"
          about="What was found, written as facts that cite evidence and as assessments."
        />
      )}
    </Stack>
  )
}

interface NarrativeVersionProps extends NarrativeTabProps {
  readonly evidence: NumberedEvidence
}

function NarrativeVersion({ draft, investigation: { investigation_id }, evidence }: NarrativeVersionProps) {
  const { stored, isChanged, base_version } = draft
  const [isReading, setReading] = useState(false)
  if (stored === undefined || stored.version === 0) return null
  return (
    <>
      <Text size="xs" c="dimmed" component="div" className="narrative-author">
        Version {stored.version}
        {stored.written_at !== null && stored.written_by !== null && (
          <>
            , <RelativeTime at={stored.written_at} />, by <Principal of={stored.written_by} isAlwaysNamed />
          </>
        )}
        {stored.version > 1 && (
          <>
            {' · '}
            <Anchor component="button" type="button" inherit onClick={() => setReading(true)}>
              Earlier versions
            </Anchor>
          </>
        )}
      </Text>
      {isReading && (
        <NarrativeVersions
          {...{ investigation_id, evidence }}
          newest={stored.version}
          onClose={() => setReading(false)}
        />
      )}
      {isChanged && stored.version > base_version && (
        <Alert color="yellow" title={`Somebody has written version ${stored.version} meanwhile`} role="alert">
          Discard your changes to see it. Copy what you want to keep first.
        </Alert>
      )}
    </>
  )
}

interface NarrativeEditorProps extends NarrativeTabProps {
  readonly evidence: NumberedEvidence
  readonly getFindings: (place: number) => readonly MissingGuard[]
}

/** Buttons that go away when they are used leave the focus to what they made. */
const focusAfter = (find: () => HTMLElement | null) =>
  window.setTimeout(() => {
    if (document.activeElement === document.body) find()?.focus()
  }, FOCUS_MS)

/** After the button has gone. */
const FOCUS_MS = 50

function NarrativeEditor({ investigation, draft, evidence, getFindings }: NarrativeEditorProps) {
  const { investigation_id } = investigation
  const addFact = useRef<HTMLButtonElement>(null)
  const { paragraphs, stored } = draft
  const queries = useQueryClient()
  const save = useApiMutation(
    async (sent: readonly DraftParagraph[]) => {
      const stored = await probity.PUT('/api/investigations/{investigation_id}/narrative', {
        params: { path: { investigation_id } },
        body: {
          paragraphs: toStored(sent).map(({ kind, text, cites }) => ({ kind, text, cites })),
          expected_version: draft.base_version,
        },
      })
      queries.setQueryData(narrativeQuery(investigation_id).queryKey, stored)
      draft.markSaved(sent, stored)
      return stored
    },
    {
      invalidates: touched,
      successMessage: ({ version }) => `Saved as version ${version}`,
      onDone: () => focusAfter(() => addFact.current),
    },
  )
  const change = (place: number, next: Partial<DraftParagraph>) =>
    draft.set(paragraphs.map((one, at) => (at === place ? { ...one, ...next } : one)))
  const hasText = paragraphs.some(({ text }) => text.trim() !== '')
  return (
    <form
      aria-label="Narrative"
      onSubmit={(event) => {
        event.preventDefault()
        save.run(paragraphs)
      }}
      onKeyDown={(event) => {
        if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        if (draft.isChanged && hasText) save.run(paragraphs)
      }}
    >
      <Stack gap="sm">
        {paragraphs.length === 0 && (
          <EmptyState
            title="No narrative yet"
            about="Write what was found. A fact cites evidence: type [ to search it. An assessment says what you conclude."
            action={
              (stored?.skeleton.length ?? 0) > 0 && (
                <Button
                  size="xs"
                  variant="default"
                  onClick={() => {
                    draft.set((stored?.skeleton ?? []).map(createParagraph))
                    focusAfter(() => document.getElementById(toParagraphElement(0)))
                  }}
                >
                  Begin with what the evidence says
                </Button>
              )
            }
          />
        )}
        {paragraphs.map((paragraph, place) => (
          <ParagraphEditor
            key={paragraph.key}
            {...{ paragraph, place, evidence }}
            findings={getFindings(place)}
            onChange={(next) => change(place, next)}
            onRemove={() => draft.set(paragraphs.filter((_, at) => at !== place))}
          />
        ))}
        <ProblemNote problem={save.problem} onReload={draft.reset} />
        <Group gap="xs">
          <Button
            ref={addFact}
            size="xs"
            variant="default"
            onClick={() => draft.set([...paragraphs, createParagraph({ kind: 'fact', text: '', cites: [] })])}
          >
            Add a fact
          </Button>
          <Button
            size="xs"
            variant="default"
            onClick={() => draft.set([...paragraphs, createParagraph({ kind: 'assessment', text: '', cites: [] })])}
          >
            Add an assessment
          </Button>
          {draft.isChanged && (
            <>
              <Button size="xs" type="submit" loading={save.isRunning} disabled={!hasText} title="Ctrl+S">
                Save the narrative
              </Button>
              <Button size="xs" variant="subtle" onClick={draft.reset}>
                Discard changes
              </Button>
            </>
          )}
        </Group>
      </Stack>
    </form>
  )
}

/** One paragraph of a narrative: as text, and as fields in which typing [ searches the evidence. */
import { ActionIcon, Combobox, Group, Pill, SegmentedControl, Text, Textarea, useCombobox } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Icon } from '#console/ui/icons.tsx'
import { toParagraphElement } from './case-pointers.ts'
import { type CitationQuery, findCitationQuery, findCited, removeCitationQuery } from './citations.ts'
import { evidenceKinds, type MissingGuard, type NumberedEvidence, type Paragraph } from './investigation-queries.ts'
import { type DraftParagraph, isFactWithoutEvidence, isOnlyLabel } from './use-narrative-draft.ts'

interface ParagraphProps {
  readonly paragraph: Paragraph
  readonly place: number
  readonly evidence: NumberedEvidence
  readonly findings: readonly MissingGuard[]
}

const UNFINISHED = 'This paragraph is only begun. Finish or remove it before you propose an outcome.'
const NO_EVIDENCE = 'A fact needs evidence: type [ to cite some, or make it an assessment.'

export function ParagraphView({ paragraph, place, evidence, findings }: ParagraphProps) {
  const lacksEvidence = isFactWithoutEvidence(paragraph)
  return (
    <div
      id={toParagraphElement(place)}
      tabIndex={-1}
      className="paragraph"
      data-kind={paragraph.kind}
      data-faulty={lacksEvidence || findings.length > 0 || undefined}
    >
      <Text size="xs" c="dimmed">
        {paragraph.kind === 'fact' ? 'Fact' : 'Assessment'}
      </Text>
      <div className="paragraph-text">{paragraph.text}</div>
      <Citations cites={paragraph.cites} evidence={evidence} />
      <Faults findings={findings} lacksEvidence={false} />
    </div>
  )
}

interface FaultsProps {
  readonly findings: readonly MissingGuard[]
  readonly lacksEvidence: boolean
  readonly isUnfinished?: boolean
}

/** What the editor says by itself as soon as it is typed. */
const TYPED = ['fact_without_citation', 'paragraph_unfinished']

function Faults({ findings, lacksEvidence, isUnfinished = false }: FaultsProps) {
  const shown = findings.filter(({ code }) => !((lacksEvidence || isUnfinished) && TYPED.includes(code)))
  return (
    <>
      {lacksEvidence && <div className="case-problem">{NO_EVIDENCE}</div>}
      {isUnfinished && <div className="case-problem">{UNFINISHED}</div>}
      {shown.map(({ code, pointer, detail }) => (
        <div key={`${code} ${pointer}`} className="case-problem">
          {detail}
        </div>
      ))}
    </>
  )
}

interface CitationsProps {
  readonly cites: readonly string[]
  readonly evidence: NumberedEvidence
  readonly onRemove?: (evidence_id: string) => void
}

export function Citations({ cites, evidence, onRemove }: CitationsProps) {
  if (cites.length === 0) return null
  return (
    <Group gap={4} component="ul" className="plain-list citations" aria-label="Cited evidence">
      {cites.map((evidence_id) => {
        const name = evidence.getEvidenceName(evidence_id)
        const title = evidence.find(evidence_id)?.title ?? 'Evidence that is not attached'
        return (
          <li key={evidence_id}>
            <Pill
              className="citation"
              title={title}
              {...(onRemove && {
                withRemoveButton: true,
                onRemove: () => onRemove(evidence_id),
                removeButtonProps: {
                  'aria-label': `Remove the citation of ${name}`,
                  tabIndex: 0,
                  'aria-hidden': false,
                },
              })}
            >
              <b>{name}</b> {title}
            </Pill>
          </li>
        )
      })}
    </Group>
  )
}

interface ParagraphEditorProps extends ParagraphProps {
  readonly paragraph: DraftParagraph
  readonly onChange: (next: Partial<DraftParagraph>) => void
  readonly onRemove: () => void
}

export function ParagraphEditor({ paragraph, place, evidence, findings, onChange, onRemove }: ParagraphEditorProps) {
  const { kind, cites, text } = paragraph
  const lacksEvidence = isFactWithoutEvidence(paragraph)
  const isUnfinished = isOnlyLabel(paragraph)
  return (
    <div
      className="paragraph"
      data-kind={kind}
      data-faulty={lacksEvidence || isUnfinished || findings.length > 0 || undefined}
    >
      <Group justify="space-between" gap="xs" mb={4}>
        <SegmentedControl
          size="xs"
          aria-label={`Kind of paragraph ${place + 1}`}
          data={[
            { value: 'fact', label: 'Fact' },
            { value: 'assessment', label: 'Assessment' },
          ]}
          value={kind}
          onChange={(next) => onChange({ kind: next as Paragraph['kind'] })}
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={`Remove paragraph ${place + 1}`}
          onClick={onRemove}
        >
          <Icon name="cross" size={14} />
        </ActionIcon>
      </Group>
      <CitingTextarea
        place={place}
        text={text}
        offered={evidence.items
          .filter(({ detached_at, erased_at }) => detached_at === null && erased_at === null)
          .filter(({ evidence_id }) => !cites.includes(evidence_id))}
        evidence={evidence}
        onText={(next) => onChange({ text: next })}
        onCite={(evidence_id, next) => onChange({ text: next, cites: [...cites, evidence_id] })}
      />
      <Citations
        cites={cites}
        evidence={evidence}
        onRemove={(gone) => onChange({ cites: cites.filter((one) => one !== gone) })}
      />
      <Faults findings={findings} lacksEvidence={lacksEvidence} isUnfinished={isUnfinished} />
    </div>
  )
}

interface CitingTextareaProps {
  readonly place: number
  readonly text: string
  readonly offered: NumberedEvidence['items']
  readonly evidence: NumberedEvidence
  readonly onText: (text: string) => void
  readonly onCite: (evidence_id: string, text: string) => void
}

function CitingTextarea({ place, text, offered, evidence, onText, onCite }: CitingTextareaProps) {
  const [search, setSearch] = useState<CitationQuery | null>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  const combobox = useCombobox({ onDropdownClose: () => setSearch(null) })
  const { openDropdown, closeDropdown, selectFirstOption, updateSelectedOptionIndex } = combobox
  const found =
    search === null ? [] : findCited(search.query, offered, ({ evidence_id }) => evidence.getEvidenceName(evidence_id))
  const query = search?.query
  useEffect(() => {
    if (query === undefined) closeDropdown()
    else {
      openDropdown()
      // The options of this search are drawn after this effect.
      window.setTimeout(() => {
        updateSelectedOptionIndex()
        selectFirstOption()
      })
    }
  }, [query, openDropdown, closeDropdown, selectFirstOption, updateSelectedOptionIndex])
  function cite(evidence_id: string) {
    if (search === null) return
    onCite(evidence_id, removeCitationQuery(text, search))
    setSearch(null)
    area.current?.focus()
  }
  return (
    <Combobox store={combobox} onOptionSubmit={cite} position="bottom-start" withinPortal>
      <Combobox.Target withKeyboardNavigation={search !== null} targetType="input">
        <Textarea
          ref={area}
          id={toParagraphElement(place)}
          aria-label={`Paragraph ${place + 1}`}
          autosize
          minRows={2}
          maxLength={8000}
          value={text}
          onChange={({ currentTarget: { value, selectionStart } }) => {
            onText(value)
            setSearch(findCitationQuery(value, selectionStart))
          }}
          onBlur={() => setSearch(null)}
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options aria-label="Evidence to cite" mah={240} style={{ overflowY: 'auto' }}>
          {found.map((one) => (
            <Combobox.Option key={one.evidence_id} value={one.evidence_id}>
              <Text size="sm" span>
                <b>{evidence.getEvidenceName(one.evidence_id)}</b> {one.title}
              </Text>
              <Text size="xs" className="citation-source">
                {[evidenceKinds[one.kind], one.source].filter(Boolean).join(' · ')}
              </Text>
            </Combobox.Option>
          ))}
          {found.length === 0 && (
            <Combobox.Empty>
              {offered.length === 0 ? 'No evidence to cite yet: attach some' : 'No evidence matches'}
            </Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

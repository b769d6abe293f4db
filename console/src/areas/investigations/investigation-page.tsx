/** The workspace of one investigation: steps and tasks, narrative and its tabs, evidence. Three columns on a wide screen. */
import './investigations.css'
import { Box, SegmentedControl } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useFilter, useSetFilter } from '#console/ui/filters.tsx'
import { KeyboardHelp } from '#console/ui/keyboard-help.tsx'
import { PartTabs } from '#console/ui/part-tabs.tsx'
import { usePageKeys } from '#console/ui/use-page-keys.ts'
import type { CaseAct } from './act-dialogs.tsx'
import { CaseHeader } from './case-header.tsx'
import { type CaseKey, caseKeys, tabKeys } from './case-keys.ts'
import { type CasePlace, findPlace, type Part, type Tab, tabs } from './case-pointers.ts'
import { EvidenceColumn } from './evidence-column.tsx'
import { type Investigation, investigationQuery, isOpen, isPermitted } from './investigation-queries.ts'
import { NarrativeTab } from './narrative-tab.tsx'
import { NotesTab } from './notes-tab.tsx'
import { countRelated, RelatedTab } from './related-tab.tsx'
import { RequestsTab } from './requests-tab.tsx'
import { StepsColumn } from './steps-column.tsx'
import { TimelineTab } from './timeline-tab.tsx'
import { useFollowedGathering } from './use-followed-gathering.ts'
import { useNarrativeDraft } from './use-narrative-draft.ts'

const partTexts = [
  { value: 'steps', label: 'Steps and tasks' },
  { value: 'work', label: 'Case' },
  { value: 'evidence', label: 'Evidence' },
]

const withCount = (name: string, count: number): string => (count === 0 ? name : `${name} (${count})`)

/** The element may be drawn only after its tab is open. */
function focusElement(id: string): void {
  window.setTimeout(() => {
    const element = document.getElementById(id)
    element?.scrollIntoView({ block: 'center' })
    element?.focus({ preventScroll: true })
  }, 50)
}

export default function InvestigationPage() {
  const { investigation_id = '' } = useParams({ strict: false }) as { investigation_id?: string }
  const { data: investigation } = useSuspenseQuery(investigationQuery(investigation_id))
  return <Workspace key={investigation_id} investigation={investigation} />
}

function Workspace({ investigation }: { readonly investigation: Investigation }) {
  const set = useSetFilter()
  const tab = useFilter('tab', tabs) ?? 'narrative'
  const [part, setPart] = useState<Part>('work')
  const [isHelping, setHelping] = useState(false)
  const [isAttaching, setAttaching] = useState(false)
  const [isAddingStep, setAddingStep] = useState(false)
  const [act, setAct] = useState<CaseAct | null>(null)
  const draft = useNarrativeDraft(investigation)
  useFollowedGathering(investigation)
  function goTo({ part: wanted, tab: wantedTab, element }: CasePlace) {
    setPart(wanted)
    if (wantedTab !== undefined) set('tab', wantedTab)
    focusElement(element)
  }
  function startMainAction() {
    const { main_action } = investigation
    if (main_action !== null && isPermitted(investigation, main_action)) setAct(main_action)
    else document.getElementById('missing')?.querySelector('button')?.focus()
  }
  function onKey(key: CaseKey) {
    if (key === '?') return setHelping(true)
    if (key === 'e') return isOpen(investigation) && setAttaching(true)
    if (key === 's') return isOpen(investigation) && setAddingStep(true)
    if (key === 'a') return isPermitted(investigation, 'assign') ? setAct('assign') : undefined
    if (key === 'p') return startMainAction()
    if (key === '1') return goTo({ part: 'steps', element: 'steps' })
    if (key === '3') return goTo({ part: 'evidence', element: 'evidence' })
    const wanted: Tab = key === '2' ? tab : tabKeys[key]
    goTo({ part: 'work', tab: wanted, element: wanted })
  }
  usePageKeys(caseKeys, onKey)
  const { counts } = investigation
  const names: Readonly<Record<Tab, string>> = {
    narrative: draft.isChanged ? 'Narrative, not saved' : 'Narrative',
    timeline: 'Timeline',
    requests: withCount('Requests', counts.information_requests_open),
    related: withCount('Related', countRelated(investigation)),
    notes: withCount('Notes', counts.notes),
  }
  const panels: Readonly<Record<Tab, ReactNode>> = {
    narrative: <NarrativeTab investigation={investigation} draft={draft} />,
    timeline: <TimelineTab investigation={investigation} />,
    requests: <RequestsTab investigation={investigation} />,
    related: <RelatedTab investigation={investigation} />,
    notes: <NotesTab investigation={investigation} />,
  }
  return (
    <Box className="page case" data-restricted={investigation.is_restricted || undefined}>
      <CaseHeader
        investigation={investigation}
        act={act}
        onAct={setAct}
        onGoTo={(pointer) => {
          const place = findPlace(pointer)
          if (place !== null) goTo(place)
        }}
        onHelp={() => setHelping(true)}
      />
      <SegmentedControl
        className="case-parts"
        fullWidth
        aria-label="Part of the case"
        data={partTexts}
        value={part}
        onChange={(value) => setPart(value as Part)}
      />
      <div className="case-columns" data-part={part}>
        <div className="case-column" data-column="steps">
          <StepsColumn investigation={investigation} isAdding={isAddingStep} onAdding={setAddingStep} />
        </div>
        <div className="case-column" data-column="work">
          <PartTabs label="Parts of the case" offered={tabs} names={names} open={tab} panels={panels} />
        </div>
        <div className="case-column" data-column="evidence">
          <EvidenceColumn investigation={investigation} isAttaching={isAttaching} onAttaching={setAttaching} />
        </div>
      </div>
      {isHelping && <KeyboardHelp title="Keys of the case" keys={caseKeys} onClose={() => setHelping(false)} />}
    </Box>
  )
}

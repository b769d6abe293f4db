/** Badges of providers and their calls. Colour only repeats the text. */
import { Badge, Tooltip } from '@mantine/core'
import {
  type AnswerSource,
  type CallState,
  callStateColors,
  callStateNames,
  describeCallState,
  gapNames,
  gapTexts,
  isGapReason,
  modeColors,
  modeTexts,
  type ProviderMode,
  type ProviderStatus,
} from './provider-texts.ts'

interface MarkProps {
  readonly color: string
  readonly words: string
  readonly about: string
}

function Mark({ color, words, about }: MarkProps) {
  return (
    <Tooltip label={about} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      <Badge variant="light" tt="none" miw="max-content" color={color}>
        {words}
      </Badge>
    </Tooltip>
  )
}

export const ModeBadge = ({ mode, isTest = false }: { readonly mode: ProviderMode; readonly isTest?: boolean }) => (
  <Mark
    color={modeColors[mode]}
    words={mode === 'live' && isTest ? 'live, test system' : mode}
    about={modeTexts[mode]}
  />
)

/** Marks a call that was answered without a request to the provider. */
export const TestBadge = ({ mode }: { readonly mode: ProviderMode }) =>
  mode === 'live' ? null : <Mark color={modeColors[mode]} words={`test: ${mode}`} about={modeTexts[mode]} />

interface CallStateBadgeProps {
  readonly state: CallState
  /** Null where it is not known. */
  readonly source?: AnswerSource | null
}

export const CallStateBadge = ({ state, source = null }: CallStateBadgeProps) => (
  <Mark color={callStateColors[state]} words={callStateNames[state]} about={describeCallState(state, source)} />
)

/** Whether the provider can be called with its credential. */
export function CredentialBadge({ status }: { readonly status: ProviderStatus }) {
  if (status.credential_members.length === 0) return <span className="quiet">not needed</span>
  if (isGapReason(status.gap)) return <Mark color="red" words={gapNames[status.gap]} about={gapTexts[status.gap]} />
  if (status.mode !== 'live') return <span className="quiet">not used in this mode</span>
  return <Mark color="teal" words="ready" about="The active version of its credential can be used." />
}

const breakerMarks = {
  closed: { color: 'teal', words: 'available', about: 'Calls are sent.' },
  open: { color: 'red', words: 'paused', about: 'Calls are held back after several failures in a row.' },
  half_open: { color: 'orange', words: 'trying', about: 'One call tries whether the provider is back.' },
} as const

/** Whether calls are sent: without a credential, with a plugin that cannot run or a tool in quarantine none is, whatever the breaker says. */
export function AvailabilityBadge({ status: { breaker, refused, gap } }: { readonly status: ProviderStatus }) {
  const [reason] = refused
  if (isGapReason(gap)) return <Mark color="red" words="not available" about={gapTexts[gap]} />
  return reason ? <Mark color="red" words="refused" about={reason.message} /> : <Mark {...breakerMarks[breaker]} />
}

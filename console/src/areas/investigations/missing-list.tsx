/** What keeps the next act of a case from being done, each with a link to where something can be done about it. */
import { Anchor, Text } from '@mantine/core'
import { useState } from 'react'
import { formatCount } from '#console/ui/format.ts'
import { findPlace } from './case-pointers.ts'
import type { Investigation, MissingGuard } from './investigation-queries.ts'
import { simplifyMissing } from './missing.ts'

interface MissingListProps {
  readonly investigation: Investigation
  readonly onGoTo: (pointer: string) => void
  readonly onResume: () => void
}

const MAX_SHOWN = 2

const actTexts: Readonly<Record<string, string>> = {
  propose_outcome: 'Before an outcome can be proposed',
  close: 'Before it can be closed',
  withdraw_proposal: 'Before the proposal can be withdrawn',
}

export function MissingList({
  investigation: { main_action, next_actions, steps },
  onGoTo,
  onResume,
}: MissingListProps) {
  const [isWhole, setWhole] = useState(false)
  const guards = next_actions.find(({ action }) => action === main_action)?.missing ?? []
  const missing = simplifyMissing(guards, steps)
  // Nothing that this user could do: the note below says who acts.
  const isForOthers = guards.some(({ code }) => code === 'role_required')
  if (main_action === null || missing.length === 0 || isForOthers) return null
  const shown = isWhole ? missing : missing.slice(0, MAX_SHOWN)
  return (
    <Text
      size="sm"
      component="div"
      className="case-missing"
      id="missing"
      role="group"
      aria-label="What is missing"
      {...(isWhole && { 'data-whole': true })}
    >
      <b>{actTexts[main_action] ?? 'What is missing'}:</b>
      <ul className="plain-list">
        {shown.map((guard) => (
          <li key={`${guard.pointer} ${guard.code}`}>
            <Missing guard={guard} onGoTo={onGoTo} onResume={onResume} />
          </li>
        ))}
      </ul>
      {missing.length > MAX_SHOWN && (
        <Anchor component="button" type="button" inherit aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show ${formatCount(missing.length - MAX_SHOWN, 'more', 'more')}`}
        </Anchor>
      )}
    </Text>
  )
}

type MissingProps = Omit<MissingListProps, 'investigation'> & { readonly guard: MissingGuard }

function Missing({ guard: { detail, pointer, code }, onGoTo, onResume }: MissingProps) {
  const canResume = code === 'waiting'
  if (!canResume && findPlace(pointer) === null) return <>{detail}</>
  return (
    <Anchor
      component="button"
      type="button"
      inherit
      ta="start"
      onClick={() => (canResume ? onResume() : onGoTo(pointer))}
    >
      {detail}
    </Anchor>
  )
}

/** Why a plugin cannot run: each reason in words, with its place and how an output differs. */
import '../registry.css'
import { Anchor, Stack, Text } from '@mantine/core'
import { Changes } from '../decision/changes.tsx'
import { describeReason, formatReasonPlace, getRemedy, type PluginReason } from './plugin-texts.ts'

interface ReasonListProps {
  readonly reasons: readonly PluginReason[]
  readonly label?: string
  /** Shows the place of a reason; offered where the reason has one. */
  readonly onShow?: (reason: PluginReason) => void
}

export function ReasonList({ reasons, label = 'Reasons', onShow }: ReasonListProps) {
  return (
    <Stack gap="xs" component="ul" className="plain-list" aria-label={label}>
      {reasons.map((reason, index) => (
        <li key={`${reason.code} ${reason.pointer} ${reason.line} ${index}`}>
          <ReasonText reason={reason} {...(onShow && { onShow })} />
        </li>
      ))}
    </Stack>
  )
}

/** Messages may end with what a user wrote. */
const endSentence = (message: string): string => (/[.!?]$/.test(message) ? message : `${message}.`)

function ReasonText({
  reason,
  onShow,
}: {
  readonly reason: PluginReason
  readonly onShow?: ReasonListProps['onShow']
}) {
  const { code, message, differences = [] } = reason
  const place = formatReasonPlace(reason)
  const remedy = getRemedy(code)
  return (
    <>
      <Text size="sm" component="div">
        <b>{describeReason(code)}</b>
        {place !== null && (
          <>
            {' at '}
            {onShow ? (
              // The line is enough to find the place; the message names the example.
              <Anchor component="button" type="button" size="sm" ta="left" onClick={() => onShow(reason)}>
                {(reason.line !== undefined && formatReasonPlace({ line: reason.line })) || place}
              </Anchor>
            ) : (
              place
            )}
          </>
        )}
        . {endSentence(message)} {remedy}
      </Text>
      {differences.length > 0 && (
        <Changes
          label="How the output differs"
          sides={['Expected', 'Actual']}
          changes={differences.map((one) => ({
            pointer: one.pointer,
            ...('expected' in one && { before: one.expected }),
            ...('actual' in one && { after: one.actual }),
          }))}
        />
      )}
    </>
  )
}

/** Findings of a definition or of inputs, with their path and example inputs. */
import './decision.css'
import { Alert, Anchor, Stack, Text } from '@mantine/core'
import { formatCount } from '../format.ts'
import { Icon } from '../icons.tsx'
import { formatEntryValue } from '../type-texts.ts'
import type { Finding } from './definition-kind.ts'

interface Located {
  readonly code: string
  readonly pointer: string
  readonly message: string
  readonly severity?: Finding['severity']
  readonly example?: object | undefined
}

interface FindingsProps {
  readonly findings: readonly Located[]
  readonly title: string
  /** Scrolls to the position of a finding. */
  readonly onShow?: (pointer: string) => void
  /** Simulates the example inputs. */
  readonly onTry?: (inputs: Readonly<Record<string, unknown>>) => void
}

export function Findings({ findings, title, onShow, onTry }: FindingsProps) {
  if (findings.length === 0) return null
  const errors = findings.filter(({ severity }) => severity !== 'warning').length
  return (
    <Alert
      color={errors > 0 ? 'red' : 'yellow'}
      icon={<Icon name="warning" />}
      title={`${title}: ${errors > 0 ? formatCount(errors, 'error') : ''}${errors > 0 && errors < findings.length ? ', ' : ''}${
        errors < findings.length ? formatCount(findings.length - errors, 'warning') : ''
      }`}
      role="status"
    >
      <Stack gap="xs" component="ul" className="plain-list">
        {findings.map((finding, place) => (
          <li key={`${finding.code} ${finding.pointer} ${place}`}>
            <Text size="sm">
              {finding.severity === 'warning' && <b>Warning. </b>}
              {finding.message}{' '}
              {finding.pointer !== '' &&
                (onShow ? (
                  <Anchor component="button" type="button" size="xs" onClick={() => onShow(finding.pointer)}>
                    at <span className="mono">{finding.pointer}</span>
                  </Anchor>
                ) : (
                  <span className="mono quiet">{finding.pointer}</span>
                ))}
            </Text>
            {finding.example && Object.keys(finding.example).length > 0 && (
              <Example of={finding.example as Record<string, unknown>} {...(onTry && { onTry })} />
            )}
          </li>
        ))}
      </Stack>
    </Alert>
  )
}

interface ExampleProps {
  readonly of: Readonly<Record<string, unknown>>
  readonly onTry?: (inputs: Readonly<Record<string, unknown>>) => void
}

/** Example inputs of the finding. */
function Example({ of, onTry }: ExampleProps) {
  return (
    <div className="example">
      <Text size="xs" fw={600} component="span">
        For example:{' '}
      </Text>
      {Object.entries(of).map(([name, value]) => (
        <span key={name} className="example-input">
          <span className="quiet">{name}</span> {formatEntryValue(value)}
        </span>
      ))}
      {onTry && (
        <Anchor component="button" type="button" size="xs" onClick={() => onTry(of)}>
          Simulate these inputs
        </Anchor>
      )}
    </div>
  )
}

/** The form that takes a token or an API key, and a line that describes the token in use. */
import { Anchor, Button, PasswordInput, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { formatDateTime, formatTime } from '#console/ui/date-format.ts'
import { useNow } from '#console/ui/date-time.tsx'
import { toWords } from '#console/ui/format.ts'
import { meQuery } from './queries.ts'
import { signIn, signOut, useToken } from './session.ts'
import { parseToken, type TokenClaims } from './token.ts'

interface TokenBoxProps {
  readonly isCompact?: boolean
  readonly submit?: string
  readonly onDone?: () => void
}

export function TokenBox({ isCompact = false, submit = 'Use token', onDone }: TokenBoxProps) {
  const token = useToken()
  const stateId = useId()
  const size = isCompact ? 'xs' : 'sm'
  const [pasted, setPasted] = useState('')
  const [fault, setFault] = useState('')
  const [isBusy, setBusy] = useState(false)

  async function use(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    const refused = await signIn(pasted)
    setBusy(false)
    setFault(refused?.fault ?? '')
    if (refused) return
    setPasted('')
    onDone?.()
  }

  return (
    <div className={isCompact ? 'token-box token-box-compact' : 'token-box'}>
      <form onSubmit={use} noValidate>
        <PasswordInput
          label="Token or API key"
          placeholder="Paste a token, or a key starting with pk_"
          value={pasted}
          onChange={(event) => {
            setPasted(event.currentTarget.value)
            setFault('')
          }}
          error={fault !== ''}
          aria-invalid={fault !== ''}
          aria-errormessage={stateId}
          size={size}
          flex={1}
          autoComplete="off"
          spellCheck={false}
          data-1p-ignore
          visibilityToggleFocusable
          visibilityToggleButtonProps={{ 'aria-label': 'Show the token' }}
        />
        <Button type="submit" size={size} loading={isBusy}>
          {submit}
        </Button>
      </form>
      <Text component="div" size="sm">
        <span id={stateId} role="status">
          {fault === '' ? <CurrentToken token={token} /> : <Fault>{fault}</Fault>}
        </span>
        {token !== '' && fault === '' && (
          <Anchor component="button" type="button" size="sm" ml={8} onClick={signOut}>
            Remove token
          </Anchor>
        )}
      </Text>
    </div>
  )
}

function Fault({ children }: { readonly children: ReactNode }) {
  return (
    <Text span inherit c="var(--mantine-color-error)">
      {children}
    </Text>
  )
}

function CurrentToken({ token }: { readonly token: string }) {
  if (token === '') return 'No token in use. The token is kept in this tab only and removed when the tab is closed.'
  const reading = parseToken(token)
  if ('fault' in reading) return <Fault>The stored token is not usable. {reading.fault}</Fault>
  return <Claims claims={reading.claims} />
}

function Claims({ claims }: { readonly claims: TokenClaims }) {
  const now = useNow()
  const { tenant_id, roles, expires_at } = claims
  const { data: me, isPending } = useQuery({ ...meQuery, throwOnError: false })
  const isExpired = expires_at !== null && expires_at.getTime() <= now
  return (
    <>
      Tenant{' '}
      <span className="token-tenant" title={tenant_id ?? undefined}>
        {me?.tenant.name ?? (isPending ? '…' : (tenant_id ?? 'unknown'))}
      </span>
      {' · '}
      {roles.length === 0 ? 'no roles' : `${roles.length === 1 ? 'role' : 'roles'} ${roles.map(toWords).join(', ')}`}
      {' · '}
      {expires_at === null && 'no expiry'}
      {expires_at !== null && isExpired && <Fault>expired {formatExpiry(expires_at, now)}</Fault>}
      {expires_at !== null && !isExpired && `expires ${formatExpiry(expires_at, now)}`}
    </>
  )
}

function formatExpiry(at: Date, now: number): string {
  const isToday = at.toDateString() === new Date(now).toDateString()
  return isToday ? formatTime(at) : formatDateTime(at)
}

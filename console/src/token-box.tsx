/** The form that takes a token or an API key, and the line that tells which token is in use. */
import { Anchor, Button, PasswordInput, Text } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect, useId, useReducer, useState } from 'react'
import { keepToken, readToken, type TokenClaims, tokenFrom, useToken } from './token.ts'

export function TokenBox({ isCompact = false }: { readonly isCompact?: boolean }) {
  const token = useToken()
  const stateId = useId()
  const size = isCompact ? 'xs' : 'sm'
  const [pasted, setPasted] = useState('')
  const [fault, setFault] = useState('')
  const [isBusy, setBusy] = useState(false)

  async function use(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    const result = await tokenFrom(pasted)
    setBusy(false)
    setFault('fault' in result ? result.fault : '')
    if ('fault' in result) return
    setPasted('')
    keepToken(result.token)
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
          visibilityToggleButtonProps={{ 'aria-label': 'Show what is typed' }}
        />
        <Button type="submit" size={size} loading={isBusy}>
          Use token
        </Button>
      </form>
      <Text component="div" size="sm">
        <span id={stateId} role="status">
          {fault === '' ? <CurrentToken token={token} /> : <Fault>{fault}</Fault>}
        </span>
        {token !== '' && fault === '' && (
          <Anchor component="button" type="button" size="sm" ml={8} onClick={() => keepToken('')}>
            Forget it
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
  if (token === '') return 'No token in use. A token stays in this tab and is gone when the tab is closed.'
  const reading = readToken(token)
  if ('fault' in reading) return <Fault>The stored token cannot be used. {reading.fault}</Fault>
  return <Claims claims={reading.claims} />
}

function Claims({ claims }: { readonly claims: TokenClaims }) {
  const now = useNow()
  const { tenant_id, roles, expires_at } = claims
  const isExpired = expires_at !== null && expires_at.getTime() <= now
  return (
    <>
      Tenant <span className="token-tenant">{tenant_id ?? 'not named'}</span>
      {' · '}
      {roles.length === 0 ? 'no roles' : `${roles.length === 1 ? 'role' : 'roles'} ${roles.join(', ')}`}
      {' · '}
      {expires_at === null && 'no expiry'}
      {expires_at !== null && isExpired && <Fault>expired {clock(expires_at, now)}</Fault>}
      {expires_at !== null && !isExpired && `expires ${clock(expires_at, now)}`}
    </>
  )
}

function clock(at: Date, now: number): string {
  const isToday = at.toDateString() === new Date(now).toDateString()
  return at.toLocaleString(undefined, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' })
}

/** The present time, read again often enough that an expiry is noticed while the page stays open. */
function useNow(): number {
  const [, tick] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const timer = setInterval(tick, 10_000)
    return () => clearInterval(timer)
  }, [])
  return Date.now()
}

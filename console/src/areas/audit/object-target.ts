/** The page of the object that an audit event concerns. Pure. */

interface ObjectTarget {
  readonly to: string
  readonly label: string
}

const isId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text)

/** Null where the object has no page, or the event concerns the tenant as a whole. */
export function findObjectTarget(object_type: string, object_id: string, tenant_id: string): ObjectTarget | null {
  if (object_id === tenant_id) return null
  const id = encodeURIComponent(object_id)
  // Payloads in quarantine belong to the type of their contract and have an id; a contract has a key.
  if (object_type === 'source-contracts')
    return isId(object_id)
      ? { to: `/source-contracts/quarantine/${id}`, label: 'Open the payload' }
      : { to: `/source-contracts/${id}`, label: 'Open the source contract' }
  if (object_type === 'risk-matrices' && !isId(object_id)) return { to: `/matrices/${id}`, label: 'Open the matrix' }
  if (object_type === 'rules' && !isId(object_id)) return { to: `/rules/${id}`, label: 'Open the rule' }
  return null
}

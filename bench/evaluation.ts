/** One decision over HTTP, and what is compared with it: a bare insert of as many bytes as the decision keeps. */
const MATRIX = 'customer-risk-person'

/** A resident with a salary: every factor of the seeded matrix is met, none by its default. */
export const evaluationRequestBody = JSON.stringify({
  matrix_key: MATRIX,
  inputs: {
    residence_country: 'DE',
    nationalities: ['DE'],
    products: ['salary-account'],
    channel: 'branch',
    annual_turnover: '60000.00',
    years_known: 5,
    source_of_funds: 'salary',
    adverse_media: 'none',
    screening: 'clear',
  },
})

/** Beside the product's tables and without row-level security: one key, one text. */
export const createDocumentTableSql = `
  create schema if not exists bench;
  create table bench.document (tenant_id uuid, document_id uuid, document text, primary key (tenant_id, document_id));
  grant usage on schema bench to app;
  grant select, insert on bench.document to app`

/** Decides once on the running product and gives the document that it kept, as it is before compression and encryption. */
export async function fetchSampleDocument(port: number, token: string): Promise<string> {
  const authorization = `Bearer ${token}`
  const evaluations = `http://127.0.0.1:${port}/api/evaluations`
  const reply = await fetch(evaluations, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: evaluationRequestBody,
  })
  if (reply.status !== 201) throw new Error(`the product answered ${reply.status}: ${await reply.text()}`)
  const { evaluation_id } = (await reply.json()) as { evaluation_id: string }
  const stored = await fetch(`${evaluations}/${evaluation_id}`, { headers: { authorization } })
  if (stored.status !== 200) throw new Error(`the product answered ${stored.status}: ${await stored.text()}`)
  return stored.text()
}

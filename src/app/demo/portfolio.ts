/**
 * Builds the invented customers of the demo tenant and the plan of their ratings. Deterministic: a fixed seed chooses among the
 * values of db/seed/demo, and dates are days before the day of seeding.
 */
import type { CustomerGroup, DemoFiles, InputValue, PortfolioFile, SubjectInputs, SubjectType } from './demo-files.ts'

export interface DemoCustomer {
  readonly external_id: string
  readonly subject_type: SubjectType
  readonly name: string
  readonly segment: string
  readonly group: string
  /** The current record. */
  readonly attributes: SubjectInputs
  /** What was known at ratings before the latest. */
  readonly earlier: SubjectInputs
  /** When it was first rated, in days before the day of seeding; null when it cannot be rated. */
  readonly onboarded_days_ago: number | null
  /** Reviews in which it is rated again, in days before the day of seeding. */
  readonly reviews_days_ago: readonly number[]
}

/** The first portfolio is rated in one batch; later customers are rated one by one when they come. */
export const FIRST_PORTFOLIO_DAYS_AGO = 360
export const REVIEW_DAYS_AGO = [270, 180, 90] as const
const MAX_REVIEWS = 2
const LATEST_ONBOARDING_DAYS_AGO = 4
const MAGIC_SEGMENT = 'integration'

export const matrixKeys = { person: 'customer-risk-person', company: 'customer-risk-company' } as const

export function buildPortfolio({ portfolio, magic }: Pick<DemoFiles, 'portfolio' | 'magic'>): DemoCustomer[] {
  const random = createRandom(portfolio.seed)
  const numbers = { person: 0, company: 0 }
  const customers = portfolio.groups.flatMap((group) =>
    Array.from({ length: group.count }, (_, index) => {
      numbers[group.subject_type] += 1
      return buildCustomer(portfolio, group, { index, number: numbers[group.subject_type], random })
    }),
  )
  const magicCustomers = magic.subjects.map(
    (subject): DemoCustomer => ({
      external_id: subject.external_id,
      subject_type: subject.subject_type,
      name: subject.name,
      segment: MAGIC_SEGMENT,
      group: 'magic',
      attributes: subject.attributes,
      earlier: {},
      onboarded_days_ago: subject.unrated ? null : 30,
      reviews_days_ago: [],
    }),
  )
  return [...customers, ...magicCustomers]
}

type Random = (below: number) => number

/** Multiplicative congruential generator of Park and Miller; good enough to vary examples. */
function createRandom(seed: number): Random {
  let state = seed % 2_147_483_647
  return (below) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

const pick = <T>(random: Random, values: readonly T[]): T => values[random(values.length)] as T

function buildCustomer(
  file: PortfolioFile,
  group: CustomerGroup,
  { index, number, random }: { index: number; number: number; random: Random },
): DemoCustomer {
  const attributes = buildAttributes(file, group, random)
  const { before } = group
  const prefix = group.subject_type === 'person' ? 'P' : 'C'
  const drawn_days_ago = group.unrated ? null : planOnboarding(random)
  return {
    external_id: `${prefix}-${String(number).padStart(5, '0')}`,
    subject_type: group.subject_type,
    name: group.subject_type === 'person' ? buildPersonName(file, number) : buildCompanyName(file, number, attributes),
    segment: group.segment,
    group: group.key,
    attributes,
    earlier: before && index % before.every === 0 ? before.inputs : {},
    // Single decisions take longest to make: half of those who could have come later were there from the beginning.
    onboarded_days_ago: drawn_days_ago !== null && drawn_days_ago % 2 === 1 ? FIRST_PORTFOLIO_DAYS_AGO : drawn_days_ago,
    reviews_days_ago: drawn_days_ago === null ? [] : planReviews(random, drawn_days_ago),
  }
}

function buildAttributes(file: PortfolioFile, group: CustomerGroup, random: Random): SubjectInputs {
  const chosen: Record<string, InputValue> = {}
  for (const [name, values] of Object.entries(group.inputs)) chosen[name] = pick(random, values)
  if (group.subject_type === 'person') {
    if (group.same_nationality) chosen['nationalities'] = [chosen['residence_country'] as string]
    return chosen
  }
  const country = chosen['incorporation_country'] as string
  chosen['legal_form'] = file.legal_forms[country] as string
  if (group.home_business) chosen['operating_countries'] = [country]
  return chosen
}

/** The two lists have coprime lengths, so that names repeat only after all pairs. */
function buildPersonName({ given_names, family_names }: PortfolioFile, number: number): string {
  return `${given_names[number % given_names.length]} ${family_names[number % family_names.length]}`
}

function buildCompanyName(file: PortfolioFile, number: number, attributes: SubjectInputs): string {
  const word = file.company_names[number % file.company_names.length]
  const trade = file.industry_words[attributes['industry'] as string]
  const form = file.legal_form_words[attributes['legal_form'] as string]
  return `${word} ${trade} ${number} ${form}`
}

/** Five of six customers are drawn for the first portfolio, the others for a day during the year. */
function planOnboarding(random: Random): number {
  if (random(6) < 5) return FIRST_PORTFOLIO_DAYS_AGO
  return LATEST_ONBOARDING_DAYS_AGO + random(FIRST_PORTFOLIO_DAYS_AGO - LATEST_ONBOARDING_DAYS_AGO - 5)
}

function planReviews(random: Random, onboarded_days_ago: number): number[] {
  const later = REVIEW_DAYS_AGO.filter((days_ago) => days_ago < onboarded_days_ago - 30)
  const chosen = later.filter(() => random(10) < 4)
  return chosen.slice(-MAX_REVIEWS)
}

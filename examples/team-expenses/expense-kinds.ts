export type Category =
  | 'travel'
  | 'lodging'
  | 'meals'
  | 'software'
  | 'equipment'
  | 'training'
  | 'office'
  | 'communication'

/** A kind of expense. */
export interface ExpenseKind {
  readonly category: Category
  readonly description: string
  readonly stores: readonly string[]
  /** Range in cents. */
  readonly cents: readonly [minimum: number, maximum: number]
  /** Occurs on trips, so its frequency depends on the employee. */
  readonly onTrips: boolean
}

type Row = readonly [description: string, minimum: number, maximum: number, ...stores: string[]]

function kindsOf(category: Category, onTrips: boolean, ...rows: readonly Row[]): readonly ExpenseKind[] {
  return rows.map(([description, minimum, maximum, ...stores]) => ({
    category,
    description,
    stores,
    cents: [minimum * 100, maximum * 100],
    onTrips,
  }))
}

/** 23 kinds in 8 categories. */
export const expenseKinds: readonly ExpenseKind[] = [
  ...kindsOf(
    'travel',
    true,
    ['Flight', 180, 980, 'Aerolinea', 'Nordwind', 'Blue Sky Airways'],
    ['Train', 25, 190, 'Intercity Rail', 'Rapid Lines'],
    ['Taxi', 9, 65, 'City Cabs', 'Airport Taxi'],
    ['Rental car', 60, 340, 'Drive Now Rentals', 'Autohaus'],
    ['Parking', 5, 45, 'Airport Parking', 'Parkhaus Mitte'],
  ),
  ...kindsOf(
    'lodging',
    true,
    ['Hotel', 110, 620, 'Hotel Central', 'Grand Harbour', 'Station Inn'],
    ['Apartment', 180, 760, 'City Stays', 'Loft Rooms'],
  ),
  ...kindsOf(
    'meals',
    false,
    ['Team lunch', 40, 190, 'Trattoria Uno', 'Noodle Bar'],
    ['Dinner with a client', 60, 280, 'Brasserie Nord', 'The Old Mill'],
    ['Breakfast', 6, 24, 'Corner Bakery', 'Cafe Linden'],
    ['Coffee with a candidate', 4, 18, 'Cafe Linden', 'Roast House'],
  ),
  ...kindsOf(
    'software',
    false,
    ['Editor licence', 60, 230, 'Codecraft'],
    ['Cloud credits', 30, 420, 'Cumulus', 'Stratus'],
    ['Design tool', 12, 90, 'Pixelworks'],
  ),
  ...kindsOf(
    'equipment',
    false,
    ['Monitor', 190, 640, 'Office World', 'Elektro Markt'],
    ['Keyboard', 45, 210, 'Elektro Markt'],
    ['Headset', 40, 280, 'Elektro Markt', 'Sound Store'],
  ),
  ...kindsOf(
    'training',
    false,
    ['Conference ticket', 240, 890, 'DevDays', 'Market Summit'],
    ['Online course', 20, 180, 'Learnwell'],
  ),
  ...kindsOf('office', false, ['Stationery', 4, 60, 'Paper and Pen'], ['Books', 18, 75, 'City Books']),
  ...kindsOf('communication', false, ['Mobile plan', 15, 55, 'Telco One'], ['Roaming', 5, 95, 'Telco One']),
]

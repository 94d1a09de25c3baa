export type Department = 'engineering' | 'sales' | 'marketing'

export interface Employee {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly level: 'junior' | 'mid' | 'senior' | 'lead'
  readonly email: string
  readonly department: Department
}

/** The last number is the share of time on trips. */
type EmployeeRow = readonly [id: string, name: string, role: string, level: Employee['level'], onTheRoad: number]

const rows: Readonly<Record<Department, readonly EmployeeRow[]>> = {
  engineering: [
    ['ENG001', 'Amara Okafor', 'Backend engineer', 'senior', 0.95],
    ['ENG002', 'Bruno Keller', 'Solutions architect', 'lead', 0.75],
    ['ENG003', 'Chiara Rossi', 'Site reliability engineer', 'senior', 0.85],
    ['ENG004', 'Dmitri Volkov', 'Field engineer', 'senior', 1],
    ['ENG005', 'Elif Yildiz', 'Frontend engineer', 'mid', 0.1],
    ['ENG006', 'Felix Brandt', 'Data engineer', 'mid', 0.1],
    ['ENG007', 'Grace Mwangi', 'Security engineer', 'senior', 0.95],
    ['ENG008', 'Hana Suzuki', 'Test engineer', 'junior', 0.05],
  ],
  sales: [
    ['SAL001', 'Ivan Horvat', 'Account executive', 'mid', 0.4],
    ['SAL002', 'Julia Nowak', 'Account executive', 'senior', 0.5],
    ['SAL003', 'Kofi Mensah', 'Sales engineer', 'mid', 0.4],
    ['SAL004', 'Lena Fischer', 'Regional manager', 'lead', 0.9],
    ['SAL005', 'Mateo Silva', 'Sales representative', 'junior', 0.2],
    ['SAL006', 'Nadia Haddad', 'Head of sales', 'lead', 1],
  ],
  marketing: [
    ['MKT001', 'Oscar Lind', 'Content writer', 'mid', 0.1],
    ['MKT002', 'Priya Nair', 'Designer', 'mid', 0.1],
    ['MKT003', 'Quentin Moreau', 'Campaign manager', 'senior', 0.3],
    ['MKT004', 'Rosa Jimenez', 'Event manager', 'lead', 0.8],
    ['MKT005', 'Sven Larsen', 'Analyst', 'junior', 0.05],
  ],
}

/** All employees with their share of time on trips. */
const people: readonly (readonly [Employee, onTheRoad: number])[] = (Object.keys(rows) as Department[]).flatMap(
  (department) =>
    rows[department].map(([id, name, role, level, onTheRoad]) => {
      const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
      return [{ id, name, role, level, email, department }, onTheRoad] as const
    }),
)

export function employeesOf(department: Department): readonly Employee[] {
  return people.map(([employee]) => employee).filter((employee) => employee.department === department)
}

/** Share of time on trips, 0 to 1; undefined for an unknown id. */
export function travelShare(employeeId: string): number | undefined {
  return people.find(([{ id }]) => id === employeeId)?.[1]
}

from corate.rate.tables import Table
from corate.rate.counted import Counts
from corate.rate.gaussian import Gaussian

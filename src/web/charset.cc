#include "web/charset.h"
